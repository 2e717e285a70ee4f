import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { utf8In } from '../../../../src/base/text/characters.ts'
import { defaultMaxMediaBytes, isTextType, typeByName } from '../../../../src/contract/message/media.ts'
import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { ConfigError, type FileContent, fileContent, type ImageContent, imageContent } from '../../../../src/index.ts'

/** The most bytes of standard input; more fits no model. */
const longestInput = 8 * 1024 * 1024

/** Text from standard input. */
export interface PipedInput {
  text: string
  /** Whether invalid UTF-8 was replaced with U+FFFD. */
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
        'Standard input exceeds 8 MiB, the limit for a prompt. Save it to a file and name the file in the prompt.',
      )
    }
    chunks.push(bytes)
  }
  const whole = Buffer.concat(chunks)
  const text = utf8In(whole)
  return text === undefined ? { text: new TextDecoder().decode(whole), isDamaged: true } : { text, isDamaged: false }
}

/** Joins the prompt with piped text. */
export function promptOf(asked: string | undefined, piped: string): string {
  if (asked === undefined) return piped
  return piped.trim() === '' ? asked : `${asked}\n\n<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`
}

/** Matches `@report.pdf` and `@"the report.pdf"`. */
const mention = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g

/** Sources of file names. */
interface Named {
  paths?: readonly string[] | undefined
  /** The part of the text that may contain @mentions. Default: the whole text. */
  mentions?: string | undefined
}

/**
 * Attaches files to a prompt: `paths`, and every `@name` of an image, PDF, audio, video or office file. Text files are left to the tools.
 * Rejects with `ConfigError` for a file that is missing, not a file, empty or too large.
 */
export async function withFiles(text: string, root: string, { paths = [], mentions = text }: Named = {}): Promise<string | MessageInput> {
  const named = Array.from(mentions.matchAll(mention), ([, quoted, word = '']) => quoted ?? word.replace(/[.,;:!?)]+$/, ''))
  const wanted = [...paths, ...named.filter(isMediaName)]
  if (wanted.length === 0) return text
  const files: (FileContent | ImageContent)[] = []
  for (const path of new Set(wanted)) files.push(await fileAt(path, root))
  return { role: 'user', content: [...files, { type: 'text', text }], timestamp: Date.now() }
}

/** Throws `ConfigError` for a path without an image file name. */
export function checkPictures(paths: readonly string[]): void {
  const other = paths.find((path) => typeByName(basename(path))?.startsWith('image/') !== true)
  if (other !== undefined)
    throw new ConfigError('invalidOption', `${JSON.stringify(other)} does not have an image file name. Use --file for other files.`)
}

/** Returns an @mention if `text` is only the path of an attachable file, as pasted by a terminal when a file is dropped on it. */
export function mentionOf(text: string): string | undefined {
  const path = pastedPath(text.trim())
  if (path === undefined || !isMediaName(path)) return undefined
  return /[\s"]/.test(path) ? (path.includes('"') ? undefined : `@"${path}" `) : `@${path} `
}

/** Decodes a pasted path: terminals use quotes, backslashes or `file:` URLs. */
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
    throw new ConfigError('invalidOption', `${why} ${JSON.stringify(path)} (${place}). Name another file, or remove the @.`)
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new ConfigError('invalidOption', `${JSON.stringify(path)} is not a file. Name a file.`)
    if (stat.size > defaultMaxMediaBytes)
      throw new ConfigError(
        'invalidOption',
        `${JSON.stringify(path)} has ${stat.size} bytes; the limit is ${defaultMaxMediaBytes}. Send a part of it.`,
      )
    return await file.readFile()
  } finally {
    await file.close()
  }
}
