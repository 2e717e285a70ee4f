import { useRef } from 'preact/hooks'
import { escapeControls } from '../../../../src/store.ts'
import { duration, short } from '../../parts/figures.ts'
import { Icon } from '../../parts/icon.tsx'
import { useRowWindow } from '../../parts/row-window.ts'
import { scrollable } from '../../parts/scrollable.ts'
import { kindWords } from '../../state/log/run-words.ts'
import type { Span } from '../../state/log/trace.ts'
import { barOf, type TraceRow } from './trace-rows.ts'

const rowHeight = 26

interface WaterfallProps {
  rows: readonly TraceRow[]
  /** Epoch milliseconds, used as the end for unfinished spans. */
  now: number
  isSelected: (span: Span) => boolean
  isFolded: (row: TraceRow) => boolean
  isFollowing: boolean
  onSelect: (span: Span) => void
  onFold: (span: Span) => void
}

/** A table whose cells contain bars, so that it is readable as data and as a timeline. */
export function Waterfall({ rows, now, isSelected, isFolded, isFollowing, onSelect, onFold }: WaterfallProps) {
  const box = useRef<HTMLDivElement>(null)
  const { from, to, before, after, onScroll } = useRowWindow(box, rows.length, rowHeight, isFollowing)
  if (rows.length === 0) return <p class="nothing">No events yet.</p>
  return (
    <section class="waterfall" ref={box} onScroll={onScroll} {...scrollable} aria-label="Trace">
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">When</th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Gap height={before} />}
          {rows.slice(from, to).map((row, at) => (
            <Line
              key={row.span.id}
              row={row}
              now={now}
              index={from + at + 2}
              isSelected={isSelected(row.span)}
              isFolded={isFolded(row)}
              onSelect={onSelect}
              onFold={onFold}
            />
          ))}
          {after > 0 && <Gap height={after} />}
        </tbody>
      </table>
    </section>
  )
}

function Gap({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus.
    <tr class="gap" aria-hidden="true">
      <td colSpan={3} style={{ height: `${height}px` }} />
    </tr>
  )
}

interface LineProps {
  row: TraceRow
  now: number
  index: number
  isSelected: boolean
  isFolded: boolean
  onSelect: (span: Span) => void
  onFold: (span: Span) => void
}

function Line({ row, now, index, isSelected, isFolded, onSelect, onFold }: LineProps) {
  const { span, depth } = row
  const { from, length, firstToken, took } = barOf(row, now)
  const canFold = span.children.length > 0
  const { kind, label, status, target, usage, ending } = span
  const tokens = usage === undefined || usage.totalTokens === 0 ? '' : ` · ${short(usage.totalTokens)} tok`
  return (
    <tr class="span" data-testid="span" data-kind={kind} data-status={status} data-selected={isSelected} aria-rowindex={index}>
      <th scope="row">
        <span class="span-name" style={{ paddingLeft: `${Math.min(depth, 8) * 14}px` }}>
          {canFold ? (
            <button type="button" class="fold" aria-expanded={!isFolded} aria-label={`Parts of ${label}`} onClick={() => onFold(span)}>
              <Icon name="chevron" class="twist" />
            </button>
          ) : (
            <span class="fold" aria-hidden="true" />
          )}
          <button type="button" class="span-label" disabled={target === undefined} aria-pressed={isSelected} onClick={() => onSelect(span)}>
            <span class="span-kind" aria-hidden="true" />
            <span class="span-text">{escapeControls(label)}</span>
            {ending !== undefined && <span class="badge">{escapeControls(ending)}</span>}
            <span class="visually-hidden">
              {kind === 'loop' ? kindWords.initial : kind}, {status}
            </span>
          </button>
        </span>
      </th>
      <td>
        <span class="track" title={`${duration(took)}${tokens}`}>
          <span class="bar" style={{ left: `${from * 100}%`, width: `${length * 100}%` }} />
          {firstToken !== undefined && <span class="first-token" style={{ left: `${firstToken * 100}%` }} title="First token" />}
        </span>
      </td>
      <td class="number">{status === 'running' ? '…' : duration(took)}</td>
    </tr>
  )
}
