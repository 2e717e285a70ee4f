import type { ContextConfig } from '../../src/context.ts'
import type { AgentEvent, AgentOptions } from '../../src/index.ts'
import type { Script } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from './grammar.ts'
import { longHistory } from './long-history.ts'
import { outline, type Played, play } from './play.ts'

/** Room for 1,000 tokens: compacted from 850 on, down to some 640. */
export const small: Partial<ContextConfig> = { maxContextTokens: 1000, systemPromptTokens: 0 }

/** The same, with so many turns kept at the beginning and at the end. */
export function keeping(first: number, recent: number, more: Partial<ContextConfig['compaction'] & object> = {}): Partial<ContextConfig> {
  return { ...small, compaction: { keepFirstTurns: first, keepRecentTurns: recent, maxSummaryTokens: 200, ...more } }
}

/** 20 turns of 100 tokens each. */
export const messages = longHistory(20, 100)

/** The events of one compaction. */
export const compactions = ['compactionStarted', 'compactionEnded']

/** The events of these types, in short. */
export function only(events: readonly AgentEvent[], types: readonly string[]): string[] {
  return outline(events).filter((type) => types.includes(type))
}

/** One prompt after a history that is too long for its room. Rejects when the events break their grammar. */
export async function playLong(options: Partial<AgentOptions> = {}, script: Script = [{ text: 'fine' }]): Promise<Played> {
  const played = await play(script, { messages, contextConfig: keeping(2, 3), ...options }, 'now')
  const faults = grammarFaults(played.events)
  if (faults.length > 0) throw new Error(faults.join('; '))
  return played
}
