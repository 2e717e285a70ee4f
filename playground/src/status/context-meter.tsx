import type { RunState } from '../../../src/store/index.ts'
import { dollarsOf, percent, short } from '../parts/figures.ts'
import type { ModelFacts } from '../state/chat-port.ts'
import { promptTokens } from '../state/prompt-tokens.ts'
import { spentOn } from '../state/spent.ts'

/** How full the context is, all tokens, and what they cost; the tick says where older turns begin to be sent in short. */
export function ContextMeter({ state, model, onOpen }: { state: RunState; model: ModelFacts; onOpen: () => void }) {
  const used = promptTokens(state)
  const share = Math.min(1, used / model.contextTokens)
  const text = `${percent(share)} of the context: ${short(used)} of ${short(model.contextTokens)} tokens`
  return (
    <button type="button" class="context-meter" onClick={onOpen} title={`${text}. Compacted from ${short(model.compactsAt)} on.`}>
      <meter min={0} max={model.contextTokens} low={model.compactsAt} high={model.contextTokens} value={used} aria-label="Context">
        {text}
      </meter>
      <span class="meter-share">{percent(share)}</span>
      <span class="meter-tokens">{short(state.usage.totalTokens)} tok</span>
      <span class="meter-cost">{dollarsOf(spentOn(state, model.cost))}</span>
    </button>
  )
}
