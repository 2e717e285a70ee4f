import { ConfigError } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import { checkOptions, readStored } from '../shape/read.ts'
import { type Content, content } from './content.ts'

/** What a client may say of its blocks. State of a service is not for it to set, nor is `fileId`: the file could be somebody else's. */
const clientFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'mimeType', 'data', 'url']],
  ['file', ['type', 'mimeType', 'data', 'url', 'name', 'context', 'citations']],
])

/**
 * A block of a user that a client sent: text, a picture or a file. Throws `ConfigError` `invalidMessage`, which names the part at `path`, for anything
 * else: no base64, bytes of another type, an address that is not https. Fields that are not for a client to set are left out.
 */
export function clientBlock(sent: JsonValue, path: string): Content {
  const fields = clientFields.get(Object(sent).type)
  if (fields === undefined) throw new ConfigError('invalidMessage', `${path} is no block of text, image or file.`)
  const block = Object.fromEntries(Object.entries(Object(sent)).filter(([name]) => fields.includes(name)))
  checkOptions(block, content, path, 'invalidMessage')
  return readStored(content, block, path)
}
