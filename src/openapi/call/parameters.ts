import { isObject } from '../../contract/json.ts'
import { isHeaderName } from '../../contract/model/request-settings.ts'
import {
  dereference,
  entriesField,
  field,
  howToBundle,
  isElsewhere,
  listField,
  type OpenApiDocument,
  shownRef,
  textField,
} from '../document.ts'
import { legalKey } from '../operation-names.ts'
import { OpenApiError } from '../options.ts'
import { schemaOfParameter } from '../schema.ts'

const places = ['path', 'query', 'header'] as const
/** A parameter's place. Cookies are not supported, because browsers would not send them. */
export type ParameterPlace = (typeof places)[number]

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  /** The parameter's name for the model. */
  readonly key: string
  readonly place: ParameterPlace
  readonly isRequired: boolean
  readonly style: string
  readonly explode: boolean
  readonly allowReserved: boolean
  /** Whether the parameter is sent as JSON. */
  readonly isJson: boolean
  readonly schema: unknown
  readonly description?: string
  readonly isDeprecated: boolean
}

/** An operation's request body. */
export interface Body {
  readonly key: string
  /** Sent as `content-type`. Absent if this package supports none of the operation's types. */
  readonly mediaType?: string
  readonly format: 'json' | 'form' | 'multipart' | 'text' | 'none'
  readonly isRequired: boolean
  readonly schema: unknown
  readonly encoding: unknown
  /** Names of file fields. */
  readonly files: ReadonlySet<string>
  readonly description?: string
  /** All media types that the operation accepts. */
  readonly mediaTypes: readonly string[]
}

/** An operation's inputs, in the order path, query, header. */
export interface Inputs {
  readonly parameters: readonly Parameter[]
  readonly body?: Body
}

/** Names that the caller sets. Header names are in lower case. */
export interface SentByCaller {
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
}

/**
 * Headers that arguments cannot set: authentication, routing, body encoding, approval. The specification ignores `accept`, `content-type`
 * and `authorization`.
 */
const ownHeaders =
  /^(accept|content-type|authorization|host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|cookie2?|set-cookie2?|origin|referer|via|date|dnt|forwarded|x-forwarded-.*|x-http-method.*|x-method-override|access-control-.*|proxy-.*|sec-.*)$/i

/**
 * Returns an operation's inputs. Parameters of the path follow those of the operation. If a name occurs in several places, later ones get
 * the place as a prefix.
 *
 * Throws `OpenApiError` `invalidDocument` for references without a target.
 */
export function inputsOf(
  api: OpenApiDocument,
  { path, item, node, where }: { path: string; item: unknown; node: unknown; where: string },
  sent: SentByCaller,
): Inputs {
  const found = new Map<string, { name: string; place: ParameterPlace; node: unknown }>()
  for (const written of [...listField(item, 'parameters'), ...listField(node, 'parameters')]) {
    const parameter = required(api, written, `A parameter of ${where}`)
    const [name, place] = [field(parameter, 'name'), field(parameter, 'in')]
    if (typeof name !== 'string' || name === '' || !isPlace(place) || isOwn(name, place, sent)) continue
    found.set(`${place} ${place === 'header' ? name.toLowerCase() : name}`, { name, place, node: parameter })
  }
  const inPath = new Set(Array.from(path.matchAll(/\{([^{}]+)\}/g), (match) => match[1] ?? ''))
  for (const name of inPath) if (!found.has(`path ${name}`)) found.set(`path ${name}`, { name, place: 'path', node: undefined })
  const used = [...found.values()].filter(({ name, place }) => place !== 'path' || inPath.has(name))
  used.sort((a, b) => places.indexOf(a.place) - places.indexOf(b.place))
  const taken = new Set<string>()
  const parameters = used.map((each) => {
    const plain = legalKey(each.name, new Set())
    const key = legalKey(taken.has(plain) ? `${each.place}_${each.name}` : each.name, taken)
    taken.add(key)
    return parameterOf(each, key)
  })
  const body = bodyOf(api, field(node, 'requestBody'), where, taken)
  return { parameters, ...(body !== undefined && { body }) }
}

function isPlace(place: unknown): place is ParameterPlace {
  return places.some((each) => each === place)
}

function isOwn(name: string, place: ParameterPlace, sent: SentByCaller): boolean {
  if (place === 'query') return sent.query.has(name)
  return place === 'header' && (!isHeaderName(name) || ownHeaders.test(name) || sent.headers.has(name.toLowerCase()))
}

function parameterOf({ name, place, node }: { name: string; place: ParameterPlace; node: unknown }, key: string): Parameter {
  const style = textField(node, 'style') ?? (place === 'query' ? 'form' : 'simple')
  const explode = field(node, 'explode')
  const description = textField(node, 'description')
  return {
    name,
    key,
    place,
    isRequired: place === 'path' || field(node, 'required') === true,
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    allowReserved: field(node, 'allowReserved') === true,
    isJson: entriesField(node, 'content').some(([type]) => !/^text\//i.test(type)),
    schema: node === undefined ? { type: 'string' } : (schemaOfParameter(node) ?? true),
    isDeprecated: field(node, 'deprecated') === true,
    ...(description !== undefined && { description }),
  }
}

function bodyOf(api: OpenApiDocument, written: unknown, where: string, taken: ReadonlySet<string>): Body | undefined {
  if (written === undefined) return undefined
  const node = required(api, written, `The body of ${where}`)
  const media = entriesField(node, 'content')
  if (media.length === 0) return undefined
  const { type, format, value } = chosenMedia(media)
  const ref = field(field(value, 'schema'), '$ref')
  // Without the schema, a model cannot know what to send.
  if (isElsewhere(ref)) throw inOtherFile(api, `The body of ${where}`, ref)
  const description = textField(node, 'description')
  let key = 'body'
  while (taken.has(key)) key = key === 'body' ? '_request_body' : `_${key}`
  return {
    key,
    format,
    isRequired: field(node, 'required') === true,
    schema: field(value, 'schema') ?? true,
    encoding: field(value, 'encoding'),
    files: filesIn(api, field(value, 'schema')),
    mediaTypes: media.map(([name]) => name),
    ...(type !== undefined && { mediaType: type }),
    ...(description !== undefined && { description }),
  }
}

/** Finds file fields as 3.0 and 3.1 declare them, including lists of files. */
function filesIn(api: OpenApiDocument, schema: unknown): ReadonlySet<string> {
  const isFile = (node: unknown): boolean =>
    textField(node, 'format') === 'binary' ||
    (textField(node, 'contentMediaType') !== undefined && field(node, 'contentEncoding') === undefined)
  const properties = entriesField(dereference(api, schema), 'properties').map(([name, node]) => [name, dereference(api, node)] as const)
  return new Set(properties.filter(([, node]) => isFile(node) || isFile(dereference(api, field(node, 'items')))).map(([name]) => name))
}

type Chosen = { type?: string; format: Body['format']; value: unknown }

/** Prefers JSON, also for a wildcard type. */
function chosenMedia(media: readonly [string, unknown][]): Chosen {
  const first = (pattern: RegExp) => media.find(([name]) => pattern.test(name) && !/[\r\n]/.test(name))
  const json = first(/^application\/json\s*(;|$)/i) ?? first(/^[^;]*\+json\s*(;|$)/i)
  if (json !== undefined) return { type: json[0], format: 'json', value: json[1] }
  const any = first(/^(\*|application)\/\*/)
  if (any !== undefined) return { type: 'application/json', format: 'json', value: any[1] }
  const form = first(/^application\/x-www-form-urlencoded\s*(;|$)/i)
  if (form !== undefined) return { type: 'application/x-www-form-urlencoded', format: 'form', value: form[1] }
  const parts = first(/^multipart\/form-data\s*(;|$)/i)
  if (parts !== undefined) return { type: 'multipart/form-data', format: 'multipart', value: parts[1] }
  const text = first(/^text\/[a-z]/i)
  if (text !== undefined) return { type: text[0], format: 'text', value: text[1] }
  return { format: 'none', value: undefined }
}

function required(api: OpenApiDocument, node: unknown, what: string): unknown {
  const target = dereference(api, node)
  if (isObject(target)) return target
  const ref = textField(node, '$ref')
  if (ref !== undefined && isElsewhere(ref)) throw inOtherFile(api, what, ref)
  throw broken(ref === undefined ? `${what} is not an object` : `${what} has a $ref without a target, ${shownRef(ref)}`)
}

function inOtherFile({ isBundled }: OpenApiDocument, what: string, ref: string): OpenApiError {
  if (isBundled === true) return broken(`${what} has a $ref without a target, ${shownRef(ref)}`)
  return broken(`${what} is in another file, ${shownRef(ref)}`, howToBundle)
}

function broken(why: string, how = 'fix the document'): OpenApiError {
  return new OpenApiError('invalidDocument', `${why}: ${how}, or exclude the operation with filter.`)
}
