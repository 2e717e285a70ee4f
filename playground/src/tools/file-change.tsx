import type { JsonObject } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { scrollable } from '../parts/scrollable.ts'

/** Maximum lines shown per side. */
const shownLines = 200

interface Change {
  path: string
  /** Absent if the whole file is written. */
  before?: string
  after: string
}

/** Returns the file change that a call makes, or `undefined`. */
export function changeOf(toolName: string, args: JsonObject | undefined): Change | undefined {
  const { path, content, old_text: before, new_text: after } = args ?? {}
  if (typeof path !== 'string') return undefined
  if (toolName === 'write_file' && typeof content === 'string') return { path, after: content }
  if (toolName === 'edit_file' && typeof before === 'string' && typeof after === 'string') return { path, before, after }
  return undefined
}

/** A file change, with removed and added lines. */
export function FileChange({ change: { path, before, after } }: { change: Change }) {
  return (
    <div class="tool-part" data-testid="file-change">
      <span class="tool-label">{escapeControls(path)}</span>
      <pre class="change" {...scrollable}>
        {before !== undefined && <Lines kind="del" sign="−" text={before} />}
        <Lines kind="ins" sign="+" text={after} />
      </pre>
    </div>
  )
}

function Lines({ kind: Kind, sign, text }: { kind: 'ins' | 'del'; sign: string; text: string }) {
  const lines = text.replace(/\n$/, '').split('\n')
  const left = lines.length - shownLines
  return (
    <>
      {lines.slice(0, shownLines).map((line, at) => (
        <Kind key={at}>{`${sign} ${escapeControls(line)}\n`}</Kind>
      ))}
      {left > 0 && `  … ${left} more lines\n`}
    </>
  )
}
