import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Session } from '../../../src/session.ts'
import { plural } from '../parts/figures.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { kindWords, runWords } from '../state/log/run-words.ts'
import { type TreeRow, treeRows } from './tree-rows.ts'

const signs: Record<TreeRow['kind'], IconName> = {
  loop: 'dot',
  rerun: 'rerun',
  branch: 'branch',
  compaction: 'fold',
  parallel: 'parallel',
  subAgent: 'agent',
}
const kinds: Record<TreeRow['kind'], string> = {
  loop: kindWords.initial,
  rerun: kindWords.rerun,
  branch: kindWords.branch,
  compaction: kindWords.compaction,
  parallel: 'parallel branch',
  subAgent: 'sub-agent',
}

/** Number of loops that are rendered initially, and per further batch. Every rendered row costs time in every frame. */
const shownAtFirst = 40
const shownMore = 200

interface LoopTreeProps {
  record: Session
  current: string | undefined
  selected: string | undefined
  onSelect: (loopId: string) => void
  /** Continues from a loop. The next prompt creates a branch there. */
  onOpen: (loopId: string) => void
}

/**
 * A conversation's loops as a tree (the ARIA APG pattern). Arrow keys move, Enter shows a loop, and Space continues from it. Shows the
 * newest loops, and earlier ones on demand or when one of them is selected.
 */
export function LoopTree({ record, current, selected, onSelect, onOpen }: LoopTreeProps) {
  const all = useMemo(() => treeRows(record, current), [record, current])
  const wanted = useSignal(shownAtFirst)
  const chosen = selected === undefined ? -1 : all.findIndex(({ loopId }) => loopId === selected)
  const first = Math.max(0, Math.min(all.length - wanted.value, chosen < 0 ? all.length : chosen))
  const rows = all.slice(first)
  const focused = useSignal(0)

  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const last = rows.length - 1
    const next = { ArrowDown: focused.value + 1, ArrowUp: focused.value - 1, Home: 0, End: last }[event.key]
    const row = rows[focused.value]
    if (next !== undefined) {
      focused.value = Math.min(last, Math.max(0, next))
      event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')[focused.value]?.focus()
    } else if (event.key === 'Enter' && row !== undefined) onSelect(row.loopId)
    else if (event.key === ' ' && row?.canOpen === true) onOpen(row.loopId)
    else return
    event.preventDefault()
  }

  return (
    <div class="loop-tree">
      {first > 0 && (
        <button
          type="button"
          class="small earlier"
          onClick={() => {
            wanted.value = all.length - first + shownMore
            focused.value = 0
          }}
        >
          {plural(first, 'earlier run')}
        </button>
      )}
      <div role="tree" aria-label="Runs" onKeyDown={onKeyDown}>
        {rows.map((row, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys.
          <div
            key={`${row.loopId} ${row.kind}`}
            role="treeitem"
            class="loop"
            data-testid="loop"
            data-kind={row.kind}
            data-depth={Math.min(row.depth, 6)}
            data-path={row.isOnPath ? 'on' : 'off'}
            aria-level={row.depth + 1}
            aria-selected={row.loopId === selected}
            tabIndex={at === Math.min(focused.value, rows.length - 1) ? 0 : -1}
            title={row.canOpen && !row.isOnPath ? 'Double-click or Space: continue from here' : row.label}
            onClick={() => {
              focused.value = at
              onSelect(row.loopId)
            }}
            onDblClick={() => row.canOpen && onOpen(row.loopId)}
          >
            <span class="loop-sign">
              <Icon name={signs[row.kind]} />
            </span>
            <span class="visually-hidden">{kinds[row.kind]}: </span>
            <span class="loop-label">{row.label}</span>
            <span class="loop-facts">{factsOf(row)}</span>
            {row.status === 'completed' && <span class="visually-hidden">, {wordOf(row)}</span>}
          </div>
        ))}
      </div>
    </div>
  )
}

const wordOf = ({ status }: TreeRow) => (status === 'chosen' ? 'chosen' : runWords[status].toLowerCase())

/** Returns a loop's length, and its status unless it is done. */
function factsOf(row: TreeRow): string {
  const turns = row.turns > 0 && row.status !== 'chosen' ? [plural(row.turns, 'turn')] : []
  return [...turns, ...(row.status === 'completed' ? [] : [wordOf(row)])].join(' · ')
}
