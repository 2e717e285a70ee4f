import { useMemo } from 'preact/hooks'
import { escapeControls, type MessageView, type RunState } from '../../../src/store.ts'
import { plural } from '../parts/figures.ts'
import { scrollable } from '../parts/scrollable.ts'
import { anchorsOf } from './data-anchors.ts'
import '../styles/conversation/tools.css'

type Part = RunState['data'][number]

/** JSON up to this length is one line. */
const lineLength = 100
/** Number of characters to show of longer JSON. */
const shownJsonChars = 20_000
/** Number of newest parts to show per call or message. */
const mostParts = 50

/** Data parts that no tool call sent, shown below the message that precedes them. */
export function MessageData({ view, state, data }: { view: MessageView; state: RunState; data: readonly Part[] }) {
  return <DataParts parts={anchorsOf(state, data).get(view.id) ?? []} />
}

/** Data parts as JSON. */
export function DataParts({ parts }: { parts: readonly Part[] }) {
  if (parts.length === 0) return null
  const hidden = parts.length - mostParts
  return (
    <ul class="data-parts" aria-label="Data">
      {hidden > 0 && <li class="tool-label">{plural(hidden, 'earlier part')} not shown; the events have all.</li>}
      {parts.slice(-mostParts).map((part) => (
        <DataPart key={`${part.name} ${part.dataId}`} part={part} />
      ))}
    </ul>
  )
}

function DataPart({ part: { name, value, transient } }: { part: Part }) {
  const line = useMemo(() => JSON.stringify(value), [value])
  const about = <span class="tool-label">{`${escapeControls(name)}${transient ? ' · transient' : ''}`}</span>
  return (
    <li class="data-part" data-testid="data-part" data-name={name}>
      {line.length <= lineLength ? (
        <>
          {about} <code>{escapeControls(line)}</code>
        </>
      ) : (
        <details>
          <summary>
            {about} <code class="tool-hint">{escapeControls(line.slice(0, 2 * lineLength))}</code>
          </summary>
          <LongJson value={value} />
        </details>
      )}
    </li>
  )
}

function LongJson({ value }: { value: Part['value'] }) {
  const text = useMemo(() => JSON.stringify(value, undefined, 2), [value])
  const cut = text.length - shownJsonChars
  return <pre {...scrollable}>{escapeControls(cut > 0 ? `${text.slice(0, shownJsonChars)}\n… ${cut} more characters` : text)}</pre>
}
