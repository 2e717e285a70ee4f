import { Agent } from 'phi-core'
import type { ContextConfig } from 'phi-core/context'
import { scripted } from 'phi-core/testing'

const small: Partial<ContextConfig> = {
  maxContextTokens: 2000, // Default: the model's window minus its output limit.
  systemPromptTokens: 100,
  compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
}

export async function longTalk(write: (line: string) => void): Promise<void> {
  // A scripted model that writes long responses; no API call is made.
  const model = scripted(({ messages }) => ({ text: `Chapter after ${messages.length} messages. ${'And so on. '.repeat(120)}` }))
  const agent = new Agent({ model, contextConfig: small })
  agent.subscribe((event) => {
    if (event.type !== 'compactionEnded') return
    const { estimatedTokensBefore, estimatedTokensAfter } = event
    write(`compacted: about ${estimatedTokensBefore} tokens, now ${estimatedTokensAfter}`)
  })
  for (let chapter = 1; chapter <= 20; chapter += 1) await agent.prompt(`Tell chapter ${chapter}.`).result
  write(`history: ${agent.messages.length} messages, last request: ${model.provider.requests.at(-1)?.messages.length}`)
}
