import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { defaultMaxMediaBytes } from '../../../../src/contract/message/media.ts'
import { ConfigError } from '../../../../src/index.ts'
import type { LineSource } from '../terminal/line-source.ts'
import type { Screen } from '../terminal/screen.ts'

/** Opens `text` in `$VISUAL` or `$EDITOR`, in a private file. Returns `undefined` if the editor failed or could not start. */
export async function editText(text: string, name: string, lines: LineSource, screen: Screen): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'phi-edit-'))
  const path = join(directory, safeName(name))
  try {
    await writeFile(path, text, { mode: 0o600 })
    // Split commands such as `code --wait` into words, without a shell.
    const [command = 'vi', ...args] = (process.env.VISUAL || process.env.EDITOR || 'vi').trim().split(/\s+/)
    screen.hold()
    const code = await lines.lend(command, [...args, path]).finally(() => screen.release())
    if (code === 0) return await readFile(path, 'utf8')
    screen.line(
      screen.paint.paint('yellow', `${command} ${code === undefined ? 'failed to start' : `exited with ${code}`}. Your text is unchanged.`),
    )
    return undefined
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The extension enables syntax highlighting in the editor. */
const safeName = (name: string): string =>
  basename(name)
    .replace(/[^\w.-]/g, '_')
    .slice(-60) || 'text'

/** Programs that write the clipboard's image to standard output, as bytes or in AppleScript's form. */
interface ClipboardReader {
  command: string
  args: readonly string[]
  isAppleScript?: boolean
}

const readers: Readonly<Record<string, readonly ClipboardReader[]>> = {
  linux: [
    { command: 'wl-paste', args: ['--type', 'image/png'] },
    { command: 'xclip', args: ['-selection', 'clipboard', '-t', 'image/png', '-o'] },
  ],
  darwin: [{ command: 'osascript', args: ['-e', 'the clipboard as «class PNGf»'], isAppleScript: true }],
}

/** Time limit for reading the clipboard, in ms. */
const readingMs = 5000

/**
 * Saves the clipboard's image in `directory`, and returns its path. Rejects with `ConfigError` if there is no image or no program to read
 * it.
 */
export async function pastedImage(directory: string, platform: NodeJS.Platform = process.platform): Promise<string> {
  for (const reader of readers[platform] ?? []) {
    const output = await outputOf(reader)
    const bytes = reader.isAppleScript === true ? fromAppleScript(output.toString('latin1')) : output
    if (!isPng(bytes)) continue
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, `pasted-${Date.now()}.png`)
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' })
    return path
  }
  const how = platform === 'linux' ? ', or neither wl-paste nor xclip is installed' : ''
  throw new ConfigError('invalidOption', `The clipboard contains no image${how}. Drop a file on the terminal, or type @picture.png.`)
}

async function outputOf({ command, args }: ClipboardReader): Promise<Buffer> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: readingMs })
  const failed = new Promise<Buffer>((resolve) => child.on('error', () => resolve(Buffer.alloc(0))))
  return Promise.race([buffer(child.stdout), failed])
}

/** `«data PNGf89504E47…»`. */
export function fromAppleScript(text: string): Buffer {
  const [, hex = ''] = /PNGf([0-9A-F]+)/i.exec(text) ?? []
  return Buffer.from(hex, 'hex')
}

function isPng(bytes: Buffer): boolean {
  return bytes.length > 8 && bytes.length <= defaultMaxMediaBytes && bytes.subarray(0, 4).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47]))
}
