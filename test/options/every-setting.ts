import type { RequestSettings } from '../../src/contract/model/request-settings.ts'

/** A value of every setting. */
export const everySetting: Required<RequestSettings> = {
  maxTokens: 10,
  temperature: 0,
  topP: 0.5,
  topK: 5,
  stopSequences: ['END'],
  seed: 7,
  frequencyPenalty: -1,
  presencePenalty: 1,
  verbosity: 'low',
  toolChoice: 'auto',
  parallelToolCalls: false,
  thinkingBudget: 2048,
  thinkingSummary: 'none',
  serviceTier: 'flex',
  cacheTtl: '1h',
  user: 'u-1',
  body: { metadata: { a: 1 } },
  headers: { a: 'b' },
  requireMedia: true,
  strict: false,
}
