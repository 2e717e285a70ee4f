import type { JsonObject, JsonValue } from '../contract/json.ts'
import type { Form, Infer, Shape } from '../contract/shape/shape.ts'

/** How single values are spelled there, where their shape alone does not say. */
export interface ValueSpelling<V> {
  /** Throws `SessionError` that names `path` for what Rust would refuse too. */
  read(json: unknown, path: string): V
  write(value: V): JsonValue
}

/** What is different of one field there. */
export interface FieldSpelling<V> {
  /** Its name there. Default: as the table says. */
  readonly name?: string
  /** What its value is there: another shape, a spelling of its own, or a time, which is RFC 3339 there and epoch ms here. */
  readonly as?: Shape | ValueSpelling<V> | 'time'
  /** What is written where it is absent here. Default: nothing. */
  readonly absent?: JsonValue
  /** What it means that a file lacks it. */
  readonly missing?: () => V
  /** Whether it may be `null` there though it must be here. What is optional here may always be. */
  readonly isOption?: true
  /**
   * A key that Rust ignores: it keeps our name, and is dropped where it does not fit, for a conversation is worth more than its annotations.
   * `spelled`: what is inside is spelled as elsewhere; `native`: as here.
   */
  readonly extra?: 'spelled' | 'native'
}

type FieldSpellings<T> = { readonly [K in keyof T]?: FieldSpelling<Exclude<T[K], undefined>> }

/** What is different of an object there. A field that is not named differs in nothing but its name. */
export interface ObjectSpelling<T> {
  /** How names of fields are spelled. Default: as here. */
  readonly names?: Style
  readonly fields?: FieldSpellings<T>
  /** Amends what was read of `json`. */
  read?(value: T, json: JsonObject): T
  /** Amends what was written of `value`. */
  write?(json: JsonObject, value: T): JsonObject
}

/** What is different of words, or of tags, there. */
interface WordSpelling {
  /** How they are spelled. Default: as here. */
  readonly words?: Style
  /** What older files call them, with our words. */
  readonly also?: Readonly<Record<string, string>>
}

/** What is different of a tagged object there, and of all its variants. */
interface TaggedSpelling<T, Tag extends keyof T> extends WordSpelling {
  /** The name of the tag there. */
  readonly tag?: string
  /** The word is the only key of an object around the fields; where there are no fields, it stands alone. */
  readonly isOutside?: true
  /** Tags that only we have. They are written as they are, and read again; Rust knows nothing of them. */
  readonly ours?: readonly (T[Tag] & string)[]
  /** What is written for those, instead. */
  instead?(value: T): JsonValue
  readonly names?: Style
  readonly fields?: FieldSpellings<T>
  readonly variants?: { readonly [W in T[Tag] & string]?: ObjectSpelling<Extract<T, Record<Tag, W>>> }
}

/** The spelling of any form. */
export interface Spelling extends ObjectSpelling<Record<string, unknown>>, WordSpelling {
  readonly tag?: string
  readonly isOutside?: true
  readonly ours?: readonly string[]
  instead?(value: object): JsonValue
}

/** A line of the dictionary. A form is the same wherever its shape is used, optional or not. */
export type Entry = readonly [Form, Spelling]

const styles = {
  snake_case: (name: string) => parted(name, '_'),
  'kebab-case': (name: string) => parted(name, '-'),
  PascalCase: (name: string) => name.charAt(0).toUpperCase() + name.slice(1),
} as const
type Style = keyof typeof styles

function parted(name: string, by: string): string {
  return name.replace(/[A-Z]/g, (letter) => `${by}${letter.toLowerCase()}`)
}

/** `name`, which is in camelCase, in another style. */
export function styled(name: string, style: Style | undefined): string {
  return style === undefined ? name : styles[style](name)
}

/** The spelling of an object. */
export function spelled<S extends Shape>({ form }: S, spelling: ObjectSpelling<Infer<S>>): Entry {
  return [form, spelling as Spelling] // it is only ever handed values of this form
}

/** The spelling of words. */
export function spelledWords({ form }: Shape, spelling: WordSpelling): Entry {
  return [form, spelling]
}

/** The spelling of an object whose `tag` picks its fields. */
export function spelledTagged<S extends Shape, Tag extends keyof Infer<S> & string>(
  { form }: S,
  tag: Tag,
  { tag: tagThere = tag, variants = {}, names, fields, ...rest }: TaggedSpelling<Infer<S>, Tag>,
): Entry[] {
  if (form.of !== 'tagged') return []
  const own = variants as Readonly<Record<string, Spelling | undefined>> // as above
  const entries = [...form.variants].map(([word, variant]): Entry => {
    const { fields: ownFields, ...more } = { ...own[word] }
    const spelling = { ...(names && { names }), ...more, fields: { ...fields, ...ownFields, [tag]: { name: tagThere } } }
    return [variant.form, spelling]
  })
  return [[form, { ...rest, tag: tagThere } as Spelling], ...entries] // as above
}
