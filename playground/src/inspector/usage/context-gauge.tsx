import type { AnnotatedRequest } from '../../../../src/context.ts'
import { percent, short } from '../../parts/figures.ts'
import type { Conversation } from '../../state/conversation/conversation.ts'
import { promptTokens } from '../../state/log/prompt-tokens.ts'
import { blocksOf } from '../request/request-blocks.ts'

/** Shows what fills the context, and when it is compacted. */
export function ContextGauge({ conversation }: { conversation: Conversation }) {
  const { model } = conversation.chat
  const used = promptTokens(conversation.state.value)
  const newest = conversation.log.requests.findLast(({ loopId }) => !loopId.includes('.sub.'))
  const parts = newest === undefined ? [{ name: 'In use', kind: 'used', tokens: used }] : partsOf(newest.request)
  return (
    <section class="gauge" aria-label="Context">
      <header>
        <h3>Context</h3>
        <p>
          <strong>{percent(used / model.contextTokens)}</strong> · {short(used)} of {short(model.contextTokens)} tok
        </p>
      </header>
      <div class="gauge-bar" aria-hidden="true">
        {parts.map(({ kind, tokens, name }) => (
          <span
            key={kind}
            data-part={kind}
            style={{ width: `${(100 * tokens) / model.contextTokens}%` }}
            title={`${name}: about ${short(tokens)} tok`}
          />
        ))}
        <i class="threshold" style={{ left: `${(100 * model.compactsAt) / model.contextTokens}%` }} />
      </div>
      <ul class="legend">
        {parts.map(({ kind, tokens, name }) => (
          <li key={kind}>
            <span class="swatch" data-part={kind} aria-hidden="true" /> {name} <span class="soft">{short(tokens)}</span>
          </li>
        ))}
        <li>
          <span class="swatch" data-part="threshold" aria-hidden="true" /> compacted from{' '}
          <span class="soft">{short(model.compactsAt)}</span>
        </li>
      </ul>
    </section>
  )
}

/** Splits a request into parts with estimated token counts. */
function partsOf(request: AnnotatedRequest) {
  const blocks = blocksOf(request, undefined)
  return [
    { name: 'Tools', kind: 'tools', tokens: sum(blocks, ({ origin }) => origin === 'tools') },
    { name: 'System prompt', kind: 'system', tokens: sum(blocks, ({ origin }) => origin === 'system prompt') },
    { name: 'User', kind: 'user', tokens: sum(blocks, ({ role }) => role === 'user') },
    { name: 'Assistant', kind: 'assistant', tokens: sum(blocks, ({ role }) => role === 'assistant') },
    { name: 'Tool results', kind: 'results', tokens: sum(blocks, ({ role }) => role === 'toolResult') },
  ]
}

function sum<Block extends { tokens: number }>(blocks: readonly Block[], isCounted: (block: Block) => boolean): number {
  return blocks.filter(isCounted).reduce((total, { tokens }) => total + tokens, 0)
}
