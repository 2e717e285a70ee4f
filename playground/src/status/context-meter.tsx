import { useMemo } from 'preact/hooks'
import type { RunState } from '../../../src/store.ts'
import { dollarsOf, percent, short } from '../parts/figures.ts'
import type { ModelFacts } from '../state/backend/chat-port.ts'
import { promptTokens } from '../state/log/prompt-tokens.ts'
import { spentOn, tokensOf } from '../state/log/spent.ts'

/** Shows how full the context is, all tokens and their cost. The tick marks where compaction starts. */
export function ContextMeter({ state, model, onOpen }: { state: RunState; model: ModelFacts; onOpen: () => void }) {
  const { messages, notes, usage } = state
  // Not recomputed for each text delta.
  const used = useMemo(() => promptTokens(state), [messages, notes])
  const cost = useMemo(() => dollarsOf(spentOn(state, model.cost)), [messages, usage, model.cost])
  const tokens = useMemo(() => tokensOf(state), [messages, usage])
  const share = Math.min(1, used / model.contextTokens)
  const text = `${percent(share)} of the context: ${short(used)} of ${short(model.contextTokens)} tokens`
  return (
    <button type="button" class="context-meter" onClick={onOpen} title={`${text}. Compacted from ${short(model.compactsAt)} on.`}>
      <meter min={0} max={model.contextTokens} low={model.compactsAt} high={model.contextTokens} value={used} aria-label="Context">
        {text}
      </meter>
      <span class="meter-share">{percent(share)}</span>
      <span class="meter-tokens">{short(tokens)} tok</span>
      <span class="meter-cost">{cost}</span>
    </button>
  )
}
