import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { utf8In } from '../../../../src/base/text/characters.ts'
import type { Content } from '../../../../src/contract/message/content.ts'
import { defaultMaxMediaBytes, isTextType, typeByName } from '../../../../src/contract/message/media.ts'
import type { MessageInput } from '../../../../src/contract/message/message.ts'
import { ConfigError, type FileContent, fileContent, type ImageContent, imageContent, type PromptInput } from '../../../../src/index.ts'
import { type McpMentions, mentionsIn } from '../../../../src/mcp/mentions/mentions.ts'

/** Maximum bytes of standard input. More would not fit any model. */
const longestInput = 8 * 1024 * 1024

/** Text from standard input. */
export interface PipedInput {
  text: string
  /** Whether invalid UTF-8 was replaced with U+FFFD. */
  isDamaged: boolean
}

/** Reads all of standard input. Throws `ConfigError` for more than 8 MiB. */
export async function pipedInput(input: AsyncIterable<Buffer | string>): Promise<PipedInput> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > longestInput) {
      throw new ConfigError(
        'invalidOption',
        'Standard input exceeds 8 MiB, the limit for a prompt. Save it to a file and refer to the file in the prompt.',
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
  return piped.trim() === '' ? asked : `${asked}\n\n${stdinText(piped)}`
}

function stdinText(piped: string): string {
  return `<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`
}

/** A command-line prompt: the typed text, the piped text, and file paths. */
export interface CommandLinePrompt {
  typed: string | undefined
  piped: string
  paths: readonly string[]
}

/** Creates a prompt's input: the messages from a typed `/server:prompt`, otherwise the text. Files and mentioned resources come first. */
export async function inputOf(given: CommandLinePrompt, root: string, servers: McpMentions): Promise<PromptInput> {
  const { typed = '', piped, paths } = given
  // Piped text must not attach files by @name.
  if (!servers.isCommand(typed))
    return withFiles(promptOf(given.typed, piped), root, { paths, mentions: typed, resourceOf: servers.resource })
  const messages = await servers.messages(typed)
  const content = await filesAt(paths, root)
  if (piped.trim() !== '') content.push({ type: 'text', text: stdinText(piped) })
  return content.length === 0 ? messages : [{ role: 'user', content }, ...messages]
}

/** Sources of attachments. */
interface Named {
  paths?: readonly string[] | undefined
  /** The part of the text that may contain @mentions. Default: the whole text. */
  mentions?: string | undefined
  /** Reads the MCP resource that a mention refers to. Returns `undefined` for other mentions. */
  resourceOf?: (mention: string) => Promise<Content[]> | undefined
}

/**
 * Attaches files to a prompt: `paths`, and every `@name` of an image, PDF, audio, video or office file. The tools read text files.
 * Rejects with `ConfigError` for a file that is missing, not a file, empty or too large.
 */
export async function withFiles(text: string, root: string, given: Named = {}): Promise<string | MessageInput> {
  const { paths = [], mentions = text, resourceOf = () => undefined } = given
  const files: Content[] = []
  const wanted = [...paths]
  for (const name of mentionsIn(mentions)) {
    const resource = resourceOf(name)
    if (resource !== undefined) files.push(...(await resource))
    else if (isMediaName(name)) wanted.push(name)
  }
  files.push(...(await filesAt(wanted, root)))
  if (files.length === 0) return text
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

/** Decodes a pasted path. Terminals use quotes, backslashes or `file:` URLs. */
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

async function filesAt(paths: readonly string[], root: string): Promise<Content[]> {
  const files: Content[] = []
  for (const path of new Set(paths)) files.push(await fileAt(path, root))
  return files
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
    const why = error.code === 'ENOENT' ? 'No such file:' : `${error.code ?? error.message}: cannot read`
    throw new ConfigError('invalidOption', `${why} ${JSON.stringify(path)} (${place}). Use another file, or remove the @.`)
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new ConfigError('invalidOption', `${JSON.stringify(path)} is not a file. Pass a file.`)
    if (stat.size > defaultMaxMediaBytes)
      throw new ConfigError(
        'invalidOption',
        `${JSON.stringify(path)} has ${stat.size} bytes, but the limit is ${defaultMaxMediaBytes}. Send part of it.`,
      )
    return await file.readFile()
  } finally {
    await file.close()
  }
}
