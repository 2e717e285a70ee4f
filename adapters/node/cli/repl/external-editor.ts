import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { LineSource } from '../terminal/line-source.ts'
import type { Screen } from '../terminal/screen.ts'

/** Has a person edit `text` in `$VISUAL` or `$EDITOR`, in a file that only they can read. `undefined` where the editor failed or could not be started. */
export async function editText(text: string, name: string, lines: LineSource, screen: Screen): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'phi-edit-'))
  const path = join(directory, safeName(name))
  try {
    await writeFile(path, text, { mode: 0o600 })
    // `code --wait` and the like: words, which no shell looks at.
    const [command = 'vi', ...args] = (process.env.VISUAL || process.env.EDITOR || 'vi').trim().split(/\s+/)
    screen.hold()
    const code = await lines.lend(command, [...args, path]).finally(() => screen.release())
    if (code === 0) return await readFile(path, 'utf8')
    screen.line(
      screen.paint.paint(
        'yellow',
        `${command} ${code === undefined ? 'could not be run' : `ended with ${code}`}; nothing was taken from it.`,
      ),
    )
    return undefined
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Its ending tells an editor how to colour it. */
const safeName = (name: string): string =>
  basename(name)
    .replace(/[^\w.-]/g, '_')
    .slice(-60) || 'text'
