import { mostPenalty, mostTemperature, settingFields } from '../../contract/model/request-settings.ts'
import type { RequestSettingsSection } from '../config-types.ts'
import { flag, number, type Section, text, texts, whole, word } from './key-table.ts'

const { verbosity, thinkingSummary, serviceTier, cacheTtl } = settingFields

/** What may be said of every request, wherever a file describes a model or an agent. */
export const requestSettings: Section<RequestSettingsSection> = {
  temperature: number(0, 'Sampling temperature.', { most: mostTemperature }),
  top_p: number(0, 'Only the likeliest words that have this much probability together.', { most: 1 }),
  top_k: whole(1, 'Only this many of the likeliest words.'),
  stop_sequences: texts('Texts that end an answer.'),
  seed: whole(0, 'Makes answers alike, as far as the service can.'),
  frequency_penalty: number(-mostPenalty, 'Above 0: words that were used often come less.', { most: mostPenalty }),
  presence_penalty: number(-mostPenalty, 'Above 0: words that were used at all come less.', { most: mostPenalty }),
  verbosity: word(verbosity.words, 'How long answers are.'),
  tool_choice: text('`auto`, `none`, `required`, or the name of the tool that must be called.', { fallback: '`auto`' }),
  parallel_tool_calls: flag('Whether an answer may hold several calls.', { fallback: '`true`' }),
  thinking_budget: whole(1, 'Tokens of thinking, for models that count them.'),
  thinking_summary: word(thinkingSummary.words, 'How much of its thinking the model shows.', { fallback: 'that of the service' }),
  service_tier: word(serviceTier.words, 'Price and speed.', { fallback: 'that of the account' }),
  cache_ttl: word(cacheTtl.words, 'How long the service keeps what it has cached.', { fallback: '`5m`' }),
  user: text('Who asks, as a text that names nobody.'),
  strict: flag('A setting that the model does not take is an error.', { fallback: '`false`' }),
}
