import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { utf8In } from '../../../../src/base/text/characters.ts'
import { defaultMaxMediaBytes, isTextType, typeByName } from '../../../../src/contract/message/media.ts'
import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { ConfigError, type FileContent, fileContent, type ImageContent, imageContent } from '../../../../src/index.ts'

/** What is piped in beyond this fits no model. */
const longestInput = 8 * 1024 * 1024

/** What was piped in. */
export interface PipedInput {
  text: string
  /** Whether some of it was no UTF-8, and stands as U+FFFD. */
  isDamaged: boolean
}

/** Reads standard input to its end. Throws `ConfigError` for more than 8 MiB. */
export async function pipedInput(input: AsyncIterable<Buffer | string>): Promise<PipedInput> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > longestInput) {
      throw new ConfigError(
        'invalidOption',
        'Standard input has more than 8 MiB, which is too much for a prompt. Put it into a file and name the file.',
      )
    }
    chunks.push(bytes)
  }
  const whole = Buffer.concat(chunks)
  const text = utf8In(whole)
  return text === undefined ? { text: new TextDecoder().decode(whole), isDamaged: true } : { text, isDamaged: false }
}

/** One prompt of what is asked and what was piped in. */
export function promptOf(asked: string | undefined, piped: string): string {
  if (asked === undefined) return piped
  return piped.trim() === '' ? asked : `${asked}\n\n<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`
}

/** `@report.pdf`, `@"the report.pdf"`. */
const mention = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g

/** Where files are named. */
interface Named {
  paths?: readonly string[] | undefined
  /** What the person wrote, where the text holds more. */
  said?: string | undefined
}

/**
 * What a person says, with the files that it names: those of `paths`, and `@name` of a picture, a PDF, sound, video or office file. Files of text are
 * left to the tools, as every other word with an `@`. Rejects with `ConfigError` for a file that is not there, is none, is empty or too large.
 */
export async function withFiles(text: string, root: string, { paths = [], said = text }: Named = {}): Promise<string | MessageInput> {
  const named = Array.from(said.matchAll(mention), ([, quoted, word = '']) => quoted ?? word.replace(/[.,;:!?)]+$/, ''))
  const wanted = [...paths, ...named.filter(isMediaName)]
  if (wanted.length === 0) return text
  const files: (FileContent | ImageContent)[] = []
  for (const path of new Set(wanted)) files.push(await fileAt(path, root))
  return { role: 'user', content: [...files, { type: 'text', text }], timestamp: Date.now() }
}

/** Throws `ConfigError` for a path whose name is not that of a picture. */
export function checkPictures(paths: readonly string[]): void {
  const other = paths.find((path) => typeByName(basename(path))?.startsWith('image/') !== true)
  if (other !== undefined)
    throw new ConfigError('invalidOption', `${JSON.stringify(other)} is no picture by its name. --file sends other files.`)
}

/** `text` as it is mentioned, where it is nothing but the path of a file that can be sent: what a terminal pastes for a file that is dropped on it. */
export function mentionOf(text: string): string | undefined {
  const path = pastedPath(text.trim())
  if (path === undefined || !isMediaName(path)) return undefined
  return /[\s"]/.test(path) ? (path.includes('"') ? undefined : `@"${path}" `) : `@${path} `
}

/** Quotes, backslashes and `file:` addresses are how terminals write the path of a file. */
function pastedPath(text: string): string | undefined {
  const [, quoted] = /^'([^'\n]+)'$/.exec(text) ?? /^"([^"\n]+)"$/.exec(text) ?? []
  if (/^file:\/\/\/\S+$/.test(text)) return addressedPath(text)
  const path = quoted ?? (/^(?:\\.|[^\s\\])+$/.test(text) ? text.replace(/\\(.)/g, '$1') : undefined)
  return path !== undefined && /^(?:\/|~\/|\.{1,2}\/|[A-Za-z]:[\\/])/.test(path) ? path : undefined
}

function addressedPath(address: string): string | undefined {
  try {
    return fileURLToPath(address)
  } catch {
    return undefined
  }
}

function isMediaName(name: string): boolean {
  const type = typeByName(name)
  return type !== undefined && !isTextType(type)
}

async function fileAt(path: string, root: string): Promise<FileContent | ImageContent> {
  const bytes = await bytesOf(path, resolve(root, path.replace(/^~(?=\/)/, homedir())))
  const name = basename(path)
  const mimeType = typeByName(name)
  if (mimeType?.startsWith('image/')) return imageContent(bytes, { name })
  return fileContent(bytes, { name, ...(mimeType === undefined && utf8In(bytes) !== undefined && { mimeType: 'text/plain' }) })
}

async function bytesOf(path: string, place: string): Promise<Uint8Array> {
  const file = await open(place).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'There is no file' : `${error.code ?? error.message}: cannot read`
    throw new ConfigError('invalidOption', `${why} ${JSON.stringify(path)} (${place}). Name another one, or leave the @ out.`)
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new ConfigError('invalidOption', `${JSON.stringify(path)} is no file. Name a file.`)
    if (stat.size > defaultMaxMediaBytes)
      throw new ConfigError(
        'invalidOption',
        `${JSON.stringify(path)} has ${stat.size} bytes; at most ${defaultMaxMediaBytes} are sent. Send a part of it.`,
      )
    return await file.readFile()
  } finally {
    await file.close()
  }
}
