import { percentEncoded } from '../../base/text/characters.ts'
import { isObject } from '../../contract/json.ts'
import { entriesField, field, textField } from '../document.ts'
import type { Body, Parameter } from './parameters.ts'

/** Keeps reserved characters, except those that could split a parameter or end the query. */
function encodeReserved(text: string): string {
  return percentEncoded(text).replace(/%(3A|2F|3F|5B|5D|40|21|24|27|28|29|2A|2C|3B|3D)/g, (code) => decodeURIComponent(code))
}

/** Returns a single value as text. Nesting deeper than the style supports becomes JSON. */
function scalar(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function fields(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, part]) => isGiven(part))
}

/** Serializes a path parameter: styles simple, label and matrix. */
export function pathText({ name, style, explode, isJson }: Parameter, value: unknown): string {
  if (isJson) return percentEncoded(JSON.stringify(value))
  const prefix = style === 'label' ? '.' : style === 'matrix' ? ';' : ''
  const isMatrix = style === 'matrix'
  const separator = explode && prefix !== '' ? prefix : ','
  const own = percentEncoded(name)
  if (Array.isArray(value)) {
    const items = value.filter(isGiven).map((item) => percentEncoded(scalar(item)))
    if (items.length === 0) return ''
    if (isMatrix) return explode ? items.map((item) => `;${own}=${item}`).join('') : `;${own}=${items.join(',')}`
    return prefix + items.join(separator)
  }
  if (isObject(value)) {
    const pairs = fields(value).map(([key, part]) => [percentEncoded(key), percentEncoded(scalar(part))])
    if (pairs.length === 0) return ''
    if (explode) return prefix + pairs.map((pair) => pair.join('=')).join(separator)
    return (isMatrix ? `;${own}=` : prefix) + pairs.flat().join(',')
  }
  const text = percentEncoded(scalar(value))
  return isMatrix ? `;${own}=${text}` : text === '' ? '' : prefix + text
}

/** Serializes a query parameter to `name=value` pairs: styles form, spaceDelimited, pipeDelimited and deepObject. */
export function queryPairs(parameter: Omit<Parameter, 'schema' | 'key' | 'place'>, value: unknown): string[] {
  const { name, style, explode, allowReserved, isJson } = parameter
  const encode = allowReserved ? encodeReserved : percentEncoded
  const own = percentEncoded(name)
  if (isJson) return [`${own}=${encode(JSON.stringify(value))}`]
  const isList = Array.isArray(value)
  if (!isList && !isObject(value)) return [`${own}=${encode(scalar(value))}`]
  if (style === 'deepObject') return deepPairs(name, value, encode)
  if (explode) {
    if (isList) return value.filter(isGiven).map((item) => `${own}=${encode(scalar(item))}`)
    return fields(value).map(([key, part]) => `${percentEncoded(key)}=${encode(scalar(part))}`)
  }
  const delimiter = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ','
  const parts = isList
    ? value.filter(isGiven).map((item) => encode(scalar(item)))
    : fields(value).flatMap(([key, part]) => [percentEncoded(key), encode(scalar(part))])
  return parts.length === 0 ? [] : [`${own}=${parts.join(delimiter)}`]
}

function deepPairs(name: string, value: unknown, encode: (text: string) => string): string[] {
  if (!isGiven(value)) return []
  if (Array.isArray(value)) return value.flatMap((item, at) => deepPairs(isObject(item) ? `${name}[${at}]` : `${name}[]`, item, encode))
  if (isObject(value)) return Object.entries(value).flatMap(([key, part]) => deepPairs(`${name}[${key}]`, part, encode))
  return [`${percentEncoded(name)}=${encode(scalar(value))}`]
}

/** Serializes a header parameter: style simple. */
export function headerText({ explode, isJson }: Parameter, value: unknown): string {
  if (isJson) return JSON.stringify(value)
  if (Array.isArray(value)) return value.filter(isGiven).map(scalar).join(',')
  if (!isObject(value)) return scalar(value)
  const pairs = fields(value).map(([key, part]) => [key, scalar(part)])
  return explode ? pairs.map((pair) => pair.join('=')).join(',') : pairs.flat().join(',')
}

/** Serializes a form body. `encoding` sets the style of each field. The default is `form`. */
export function formBody(encoding: unknown, value: unknown): string {
  if (!isObject(value)) return ''
  const styles = new Map(entriesField({ encoding }, 'encoding'))
  const pairs = fields(value).flatMap(([name, part]) => {
    const own = styles.get(name)
    const style = textField(own, 'style') ?? 'form'
    const explode = field(own, 'explode')
    const isNested = isObject(part) && style === 'form'
    return queryPairs(
      {
        name,
        style,
        explode: typeof explode === 'boolean' ? explode : style === 'form',
        allowReserved: false,
        isJson: isNested && own === undefined,
        isRequired: false,
        isDeprecated: false,
      },
      part,
    )
  })
  return pairs.join('&').replaceAll('%20', '+')
}

/** Serializes a multipart body: a part per list item, objects as JSON, and a file name for files, which servers require. */
export function multipartBody({ encoding, files }: Pick<Body, 'encoding' | 'files'>, value: unknown): FormData {
  const form = new FormData()
  if (!isObject(value)) return form
  const kinds = new Map(entriesField({ encoding }, 'encoding').map(([name, own]) => [name, textField(own, 'contentType')]))
  for (const [name, part] of fields(value)) {
    for (const each of Array.isArray(part) ? part.filter(isGiven) : [part]) {
      const plain = isObject(each) || Array.isArray(each) ? 'application/json' : files.has(name) ? 'application/octet-stream' : undefined
      // If several types are allowed, use the default type of the value.
      const type = /[,*]/.test(kinds.get(name) ?? '') ? plain : (kinds.get(name) ?? plain)
      const text = typeof each === 'string' ? each : JSON.stringify(each)
      if (type === undefined) form.append(name, text)
      else form.append(name, new Blob([text], { type }), name)
    }
  }
  return form
}
