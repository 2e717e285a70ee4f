import { parseArguments } from '../../../base/json/call-arguments.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'
import type { Content } from '../../../contract/message/content.ts'
import { typeByName } from '../../../contract/message/media.ts'
import { text } from '../../../contract/message/message.ts'
import { type ClientFile, readFile, textIn } from '../../shared/client-input.ts'
import { refuse } from './caller-fault.ts'

/** Parses user content: text, or parts with text, images, audio and files. Rejects other parts and empty content. */
export function userContent(given: JsonValue | undefined, param: string): Content[] {
  if (typeof given === 'string') return given.trim() === '' ? refuse(param, `${param} is empty.`) : [text(given)]
  if (!Array.isArray(given) || given.length === 0) return refuse(param, `${param} must be a string or a list of parts.`)
  const blocks = given.map((part, index) => userPart(part, `${param}[${index}]`))
  const isBlank = blocks.every((block) => block.type === 'text' && block.text.trim() === '')
  return isBlank ? refuse(param, `${param} is empty.`) : blocks
}

function userPart(part: JsonValue, param: string): Content {
  if (!isJsonObject(part)) return refuse(param, `${param} must be an object with a type.`)
  switch (part.type) {
    case 'text':
    case 'input_text':
      return text(textIn(part.text) ?? refuse(param, `${param}.text must be a string.`))
    case 'image_url':
      return picture(isJsonObject(part.image_url) ? textIn(part.image_url.url) : textIn(part.image_url), part, param)
    case 'input_image':
      return picture(textIn(part.image_url), part, param)
    case 'input_audio':
      return sound(part.input_audio, param)
    case 'file':
      return document(isJsonObject(part.file) ? part.file : {}, param)
    case 'input_file':
      return document(part, param)
    default:
      return refuse(`${param}.type`, `${param}.type is not supported. Send text, images (image_url, input_image), input_audio or files.`)
  }
}

function picture(url: string | undefined, { file_id: fileId }: JsonObject, param: string): Content {
  refuseFileId(fileId, param)
  if (url === undefined) return refuse(param, `${param} needs an image URL or a data: URL.`)
  // A URL specifies no media type. Providers detect it.
  return fileOf({ mimeType: url.startsWith('data:') ? undefined : (typeOfAddress(url) ?? 'image/jpeg'), url }, param)
}

function sound(given: JsonValue | undefined, param: string): Content {
  const { data, format }: JsonObject = isJsonObject(given) ? given : {}
  if (typeof data !== 'string' || typeof format !== 'string') return refuse(param, `${param}.input_audio needs data and a format.`)
  return fileOf({ mimeType: typeByName(`sound.${format}`) ?? `audio/${format}`, data }, param)
}

function document({ file_data: data, file_url: address, file_id: fileId, filename }: JsonObject, param: string): Content {
  refuseFileId(fileId, param)
  const name = textIn(filename)
  const known = name === undefined ? undefined : typeByName(name)
  const url = textIn(address)
  if (url !== undefined) return fileOf({ mimeType: known ?? typeOfAddress(url) ?? 'application/pdf', url, name }, param)
  if (typeof data !== 'string') return refuse(param, `${param} needs file_data or file_url.`)
  if (data.startsWith('data:')) return fileOf({ mimeType: undefined, url: data, name }, param)
  return fileOf({ mimeType: known ?? 'application/pdf', data, name }, param)
}

function typeOfAddress(url: string): string | undefined {
  return URL.canParse(url) ? typeByName(new URL(url).pathname) : undefined
}

/** A provider file id could belong to a different user. */
function refuseFileId(fileId: JsonValue | undefined, param: string): void {
  if (fileId !== undefined && fileId !== null)
    refuse(`${param}.file_id`, `${param}.file_id is not supported. Send the data or an https URL.`)
}

function fileOf(file: ClientFile, param: string): Content {
  const { value, problem } = readFile(file, param)
  return value ?? refuse(param, problem ?? `${param} cannot be read.`)
}

/** Returns the text of text-only content, for assistant messages, tool results and instructions. */
export function textContent(given: JsonValue | undefined, param: string): string {
  if (typeof given === 'string') return given
  if (given === undefined || given === null) return ''
  if (!Array.isArray(given)) return refuse(param, `${param} must be a string or a list of strings.`)
  return given.map((part, index) => textPart(part, `${param}[${index}]`)).join('')
}

function textPart(part: JsonValue, param: string): string {
  const partText = isJsonObject(part) ? (textIn(part.text) ?? textIn(part.refusal)) : undefined
  return partText ?? refuse(param, `${param} must be a text.`)
}

/** Parses the result of a caller's tool: text, or parts as in user content. */
export function resultContent(given: JsonValue | undefined, param: string): Content[] {
  if (typeof given === 'string') return [text(given)]
  return Array.isArray(given) && given.length > 0 ? given.map((part, index) => userPart(part, `${param}[${index}]`)) : [text('')]
}

/** Parses the arguments of a call in an assistant message. */
export function argumentsOf(given: JsonValue | undefined, param: string): JsonObject {
  if (typeof given !== 'string') return refuse(param, `${param} must be a JSON string.`)
  const read = parseArguments(given === '' ? '{}' : given)
  return read.fault === undefined ? read.arguments : refuse(param, `${param} cannot be taken: ${read.fault}.`)
}
