import type { JsonObject, JsonValue } from '../contract/json.ts'
import type { Form, Infer, Shape } from '../contract/shape/shape.ts'

/** Spelling of a single value in Rust's JSON, if its shape does not determine it. */
export interface ValueSpelling<V> {
  /** Throws `SessionError` with `path` for values that Rust would refuse too. */
  read(json: unknown, path: string): V
  write(value: V): JsonValue
}

/** Spelling of a field in Rust's JSON. */
export interface FieldSpelling<V> {
  /** The field's name. Default: the name in the table's style. */
  readonly name?: string
  /** The field's value: another shape, its own spelling, or a time, which is RFC 3339 in Rust and epoch milliseconds here. */
  readonly as?: Shape | ValueSpelling<V> | 'time'
  /** Written if the field is absent here. Default: nothing. */
  readonly absent?: JsonValue
  /** Value of a field that a file lacks. */
  readonly missing?: () => V
  /** Whether the field may be `null` in Rust although it is required here. Fields that are optional here may always be `null`. */
  readonly isOption?: true
  /**
   * A key that Rust ignores. The key keeps our name and is dropped if invalid, because a conversation is worth more than its annotations.
   * With `spelled`, the content uses Rust's spelling, and with `native`, ours.
   */
  readonly extra?: 'spelled' | 'native'
}

type FieldSpellings<T> = { readonly [K in keyof T]?: FieldSpelling<Exclude<T[K], undefined>> }

/** An object's spelling. Unlisted fields differ only in their name. */
export interface ObjectSpelling<T> {
  /** Field name style. Default: the TypeScript spelling. */
  readonly names?: Style
  readonly fields?: FieldSpellings<T>
  /** Adjusts the value that was read from `json`. */
  read?(value: T, json: JsonObject): T
  /** Adjusts the JSON that was written for `value`. */
  write?(json: JsonObject, value: T): JsonObject
}

/** Spelling of words or tags. */
interface WordSpelling {
  /** Word style. Default: the TypeScript spelling. */
  readonly words?: Style
  /** Additional words of older files, mapped to ours. */
  readonly also?: Readonly<Record<string, string>>
}

/** Spelling of a tagged object and its variants. */
interface TaggedSpelling<T, Tag extends keyof T> extends WordSpelling {
  /** The name of the tag. */
  readonly tag?: string
  /** Whether the tag is the only key of an object around the fields. Without fields, the tag is written as a plain string. */
  readonly isOutside?: true
  /** Tags that only we have. They are written and read unchanged. Rust does not know them. */
  readonly ours?: readonly (T[Tag] & string)[]
  /** Written instead of these tags. */
  instead?(value: T): JsonValue
  readonly names?: Style
  readonly fields?: FieldSpellings<T>
  readonly variants?: { readonly [W in T[Tag] & string]?: ObjectSpelling<Extract<T, Record<Tag, W>>> }
}

/** Spelling of any form. */
export interface Spelling extends ObjectSpelling<Record<string, unknown>>, WordSpelling {
  readonly tag?: string
  readonly isOutside?: true
  readonly ours?: readonly string[]
  instead?(value: object): JsonValue
}

/** A dictionary entry. A form has the same spelling wherever its shape is used. */
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

/** Converts a camelCase `name` to another style. */
export function styled(name: string, style: Style | undefined): string {
  return style === undefined ? name : styles[style](name)
}

/** Returns an object's spelling. */
export function spelled<S extends Shape>({ form }: S, spelling: ObjectSpelling<Infer<S>>): Entry {
  return [form, spelling as Spelling] // The function only receives values in this form.
}

/** Returns the spelling of words. */
export function spelledWords({ form }: Shape, spelling: WordSpelling): Entry {
  return [form, spelling]
}

/** Returns the spelling of an object whose `tag` selects its fields. */
export function spelledTagged<S extends Shape, Tag extends keyof Infer<S> & string>(
  { form }: S,
  tag: Tag,
  { tag: tagThere = tag, variants = {}, names, fields, ...rest }: TaggedSpelling<Infer<S>, Tag>,
): Entry[] {
  if (form.of !== 'tagged') return []
  const own = variants as Readonly<Record<string, Spelling | undefined>> // See above.
  const entries = [...form.variants].map(([word, variant]): Entry => {
    const { fields: ownFields, ...more } = { ...own[word] }
    const spelling = { ...(names && { names }), ...more, fields: { ...fields, ...ownFields, [tag]: { name: tagThere } } }
    return [variant.form, spelling]
  })
  return [[form, { ...rest, tag: tagThere } as Spelling], ...entries] // See above.
}
