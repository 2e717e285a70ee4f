import type { AgentEvent } from 'phi-core'
import { type AgentContext, type LoopConfig, llmJudge, parallelLoop } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

export async function judged(write: (line: string) => void): Promise<void> {
  // Scripted models; no API call is made. Two respond, and the third chooses the better response.
  const configs: LoopConfig[] = [{ model: scripted([{ text: 'Four.' }]) }, { model: scripted([{ text: '2 + 2 = 4.' }]) }]
  const strategy = llmJudge({ config: { model: scripted([{ text: '2' }], { id: 'judge' }) } })
  const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
  const texts = new Map<string, string>()
  const emit = (event: AgentEvent) => {
    if (event.type !== 'messageUpdate' || event.delta.type !== 'text') return
    texts.set(event.loopId, (texts.get(event.loopId) ?? '') + event.delta.delta)
  }
  const { signal } = new AbortController()
  const { selectedIndex, selectedContext } = await parallelLoop({ prompt: 'What is 2 + 2?', context, configs, strategy, emit, signal })
  write(`branches and judge: ${[...texts.values()].join(' | ')}`)
  write(`chosen: ${selectedIndex}, continues with ${selectedContext.messages.length} messages`)
}
