import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Usage } from '../../../../src/index.ts'
import { escapeControls } from '../../../../src/store.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { short } from '../../parts/figures.ts'
import { Icon } from '../../parts/icon.tsx'
import { scrollable } from '../../parts/scrollable.ts'
import type { CapturedTurn } from '../../state/log/event-log.ts'
import type { TabProps } from '../tab-props.ts'
import { BlockRow } from './block-row.tsx'
import { CacheCover } from './cache-cover.tsx'
import { bodyOf, curlOf } from './curl.ts'
import { PrefixDiff } from './prefix-diff.tsx'
import { blocksOf } from './request-blocks.ts'
import { selectedRequest } from './selected-request.ts'

/** A turn's exact request, each block's origin, and the cause that invalidated the prompt cache. */
export function RequestTab({ appState, conversation }: TabProps) {
  const isRaw = useSignal(false)
  const { turn, previous, next } = selectedRequest(conversation.log.requests, appState.selection.value)
  const blocks = useMemo(() => (turn === undefined ? [] : blocksOf(turn.request, previous?.request)), [turn, previous])
  if (turn === undefined) return <p class="nothing">{whyNone({ appState, conversation })}</p>
  const { request, turnIndex, loopId } = turn
  const show = (other: CapturedTurn | undefined) => other && appState.select({ loopId: other.loopId, turnIndex: other.turnIndex })
  const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0)

  return (
    <div class="request" data-testid="request">
      <header class="request-head">
        <div class="stepper">
          <button
            type="button"
            class="icon-button back"
            aria-label="Previous request"
            title="Previous request"
            disabled={!previous}
            onClick={() => show(previous)}
          >
            <Icon name="chevron" />
          </button>
          <h3 title={loopId}>Turn {turnIndex}</h3>
          <button
            type="button"
            class="icon-button"
            aria-label="Next request"
            title="Next request"
            disabled={!next}
            onClick={() => show(next)}
          >
            <Icon name="chevron" />
          </button>
        </div>
        <p class="soft">
          {request.modelId} · thinking {request.thinkingLevel} · {blocks.filter(({ isSent }) => isSent).length} blocks · about{' '}
          {short(tokens)} tok
        </p>
        <div class="request-actions">
          <CopyButton label="Copy as JSON" text={() => bodyOf(request)}>
            JSON
          </CopyButton>
          <CopyButton label="Copy as cURL, without the key" text={() => curlOf(request)}>
            cURL
          </CopyButton>
          <button type="button" class="small" aria-pressed={isRaw.value} onClick={() => (isRaw.value = !isRaw.value)}>
            Body
          </button>
        </div>
      </header>
      <CacheCover blocks={blocks} usage={usageOf(conversation.state.value.turns, turn)} hasPrevious={previous !== undefined} />
      <PrefixDiff previous={previous} turn={turn} />
      {isRaw.value ? (
        <pre class="raw" {...scrollable} data-testid="request-body">
          {escapeControls(bodyOf(request))}
        </pre>
      ) : (
        <ol class="blocks" aria-label="Blocks of the request">
          {blocks.map((block) => (
            <BlockRow key={block.id} block={block} />
          ))}
        </ol>
      )}
    </div>
  )
}

/** The reason why there is no request to show. */
function whyNone({ appState, conversation }: TabProps): string {
  if (appState.selection.value !== undefined) return 'No request was captured for this turn.'
  if (conversation.state.value.turns.length === 0) return 'No request was sent yet.'
  if (conversation.chat.connection === undefined) return 'The requests of this conversation were not captured.'
  return 'The server does not show its requests. Set turnRequests: true there, and captureTurnRequests: true on the agent.'
}

function usageOf(turns: readonly { loopId: string; turnIndex: number; usage?: Usage }[], turn: CapturedTurn) {
  return turns.findLast(({ loopId, turnIndex }) => loopId === turn.loopId && turnIndex === turn.turnIndex)?.usage
}
