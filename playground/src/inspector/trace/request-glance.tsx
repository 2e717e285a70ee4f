import { useMemo } from 'preact/hooks'
import { escapeControls } from '../../../../src/store.ts'
import { plural, short } from '../../parts/figures.ts'
import type { CapturedTurn } from '../../state/log/event-log.ts'
import type { Selection } from '../../state/selection.ts'
import { blocksOf } from '../request/request-blocks.ts'
import { selectedRequest } from '../request/selected-request.ts'

/** Number of newest blocks listed. */
const listed = 6

/** A summary of the selected turn's request, with the origin and length of each block. */
export function RequestGlance({
  requests,
  selection,
  onOpen,
}: {
  requests: readonly CapturedTurn[]
  selection: Selection | undefined
  onOpen: () => void
}) {
  const { turn, previous } = selectedRequest(requests, selection)
  const blocks = useMemo(() => (turn === undefined ? [] : blocksOf(turn.request, previous?.request)), [turn, previous])
  if (turn === undefined) return null
  const left = blocks.length - listed
  return (
    <section class="glance" aria-label="Request of the selected turn">
      <header>
        <h3>
          Request of turn {turn.turnIndex}
          {selection === undefined && <span class="soft"> · newest</span>}
        </h3>
        <button type="button" class="small" onClick={onOpen}>
          Inspect
        </button>
      </header>
      <ol>
        {left > 0 && <li class="soft">{plural(left, 'earlier block')}</li>}
        {blocks.slice(-listed).map((block) => (
          <li key={block.id} data-cached={block.isCommon}>
            <span class="block-number">#{block.number}</span>
            <span class="origin" data-origin={block.origin}>
              {block.origin}
            </span>
            <span class="block-text">{escapeControls(block.gist)}</span>
            <span class="number">{short(block.tokens)} tok</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
