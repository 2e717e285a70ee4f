import { compatFields } from '../../contract/model/model-config.ts'
import type { SettingName } from '../../contract/model/request-settings.ts'
import type { FieldsOf } from '../../contract/shape/shape.ts'
import type { LimitedOptions } from '../../providers/compose/limited.ts'
import { defaultPerMs, type LimiterOptions } from '../../providers/compose/limiter.ts'
import { defaultPatience } from '../../providers/kit/transport/stall-clock.ts'
import {
  alias,
  as,
  flag,
  grouped,
  type InFile,
  id,
  inFile,
  jsonTable,
  type Key,
  number,
  objects,
  onlyFor,
  record,
  required,
  setting,
  table,
  tables,
  text,
  texts,
  toolChoice,
  whole,
  wholeOr,
  word,
} from './key-table.ts'

/** Protocol words of files; the first of each line is the specification's. */
export const protocolWords: readonly string[] = [
  ...['anthropic_messages', 'anthropic'],
  ...['openai_completions', 'openai'],
  ...['openai_responses'],
  ...['azure_openai_responses', 'azure'],
  ...['google_generative_ai', 'google', 'gemini'],
  ...['google_vertex', 'vertex'],
  ...['bedrock_converse_stream', 'bedrock'],
  ...['scripted'],
]

/** Request settings for models and agents. */
export const requestSettingsKeys = {
  temperature: setting('temperature', 'Sampling temperature.'),
  top_p: setting('topP', 'Only the likeliest words that have this much probability together.'),
  top_k: setting('topK', 'Only this many of the likeliest words.'),
  stop_sequences: setting('stopSequences', 'Texts that end an answer.'),
  seed: setting('seed', 'Makes answers alike, as far as the service can.'),
  frequency_penalty: setting('frequencyPenalty', 'Above 0: words that were used often come less.'),
  presence_penalty: setting('presencePenalty', 'Above 0: words that were used at all come less.'),
  verbosity: setting('verbosity', 'How long answers are.'),
  tool_choice: toolChoice('`auto`, `none`, `required`, or the name of the tool that must be called.', '`auto`'),
  parallel_tool_calls: setting('parallelToolCalls', 'Whether an answer may hold several calls.', '`true`'),
  thinking_budget: setting('thinkingBudget', 'Tokens of thinking, for models that count them.'),
  thinking_summary: setting('thinkingSummary', 'How much of its thinking the model shows.', 'that of the service'),
  service_tier: setting('serviceTier', 'Price and speed.', 'that of the account'),
  cache_ttl: setting('cacheTtl', 'How long the service keeps what it has cached.', '`5m`'),
  user: setting('user', 'Identifies the user without personal data.'),
  require_media: setting('requireMedia', 'Media that the model does not take are an error before anything is sent.', '`false`'),
  strict: setting('strict', 'A setting that the model does not take is an error.', '`false`'),
} satisfies Record<InFile<Exclude<SettingName, 'maxTokens' | 'headers' | 'body'>>, Key>

const patience = (about: string, fallback: string | number) =>
  wholeOr(1, 'none', (limit) => (limit === 'none' ? false : limit), about, fallback)

const rates = (fallback: string) => ({
  input_per_million: number(0, 'Input.', fallback),
  output_per_million: number(0, 'Output.', fallback),
  cache_read_per_million: number(0, 'Input from the cache.', fallback),
  cache_write_per_million: number(0, 'Input written to the cache.', fallback),
})
export const costTierKeys = {
  input_tokens_above: required(whole(1, 'It holds for prompts of more tokens than this, cached ones included.')),
  ...rates('that of short prompts'),
  cache_write_1h_per_million: number(0, 'Input that is kept for an hour.', '1.6 times `cache_write_per_million`'),
}

/** `[[provider.cost.tiers]]`: USD per million tokens of calls with a long prompt. */
export interface CostTierSection extends FieldsOf<typeof costTierKeys> {}

export const costKeys = {
  ...rates('0'),
  cache_write_1h_per_million: costTierKeys.cache_write_1h_per_million,
  tiers: tables<CostTierSection>(costTierKeys, 'Rates of calls with a long prompt.'),
}

/** `[provider.cost]`: USD per million tokens. */
export interface CostSection extends FieldsOf<typeof costKeys> {}

/** With and without underscores. */
const formatSpellings = [...new Set(compatFields.thinkingFormat.words.flatMap((format) => [format.toLowerCase(), inFile(format)]))]

export const compatKeys = {
  supports_store: flag('It knows `store`.'),
  supports_developer_role: flag('It knows the role `developer`.'),
  supports_reasoning_effort: flag('It knows `reasoning_effort`.'),
  supports_usage_in_streaming: flag('It counts tokens in a stream.'),
  max_tokens_field: word(compatFields.maxTokensField.words, 'What it calls the limit of an answer.'),
  requires_tool_result_name: flag('Tool results need the name of their tool.'),
  requires_assistant_after_tool_result: flag('Tool results must be followed by an answer.'),
  thinking_format: alias(
    'reasoning_format',
    word(compatFields.thinkingFormat.words, 'How it is asked to think.', undefined, formatSpellings),
  ),
  thinking_field: word(
    compatFields.thinkingField.words,
    'Where reasoning of earlier responses goes back.',
    '`received`: the field in which it came',
  ),
} satisfies Record<InFile<keyof typeof compatFields>, Key>

/** `[provider.compat]`: differences of a provider from OpenAI. */
export interface CompatSection extends FieldsOf<typeof compatKeys> {}

export const limiterKeys = {
  concurrency: whole(1, 'Calls at the same time.', 'as many as come'),
  requests: whole(1, 'Calls that may begin within `per_ms`.', 'as many as come'),
  tokens: whole(1, 'Tokens, in and out, within `per_ms`.', 'as many as come'),
  per_ms: whole(1, 'Milliseconds.', defaultPerMs),
  max_wait_ms: number(0, 'Milliseconds that a call waits for its turn; then the `fallback` steps in, or it fails.', 'as long as it takes'),
} satisfies Record<InFile<keyof LimiterOptions | Exclude<keyof LimitedOptions, 'priority'>>, Key>

/** `[provider.limiter]`: rate and concurrency limits for a provider. */
export interface LimiterSection extends FieldsOf<typeof limiterKeys> {}

const choice = (about: string, fallback?: string) => as('choice', text(about, fallback))

export const modelKeys = {
  model: choice('The id that is sent to the service; or `provider/model`, if no `api`, `provider` or `base_url` names the service.'),
  api_key: choice('The key; keep it in the environment, and name the variable here.'),
  api: as(
    'choice',
    word(
      protocolWords,
      'The protocol. It is not guessed from the id of the model.',
      'that of `provider`, or of `provider/model`; else `anthropic_messages`',
    ),
  ),
  base_url: as('choice', alias('url', text('Where the service is.', 'the service of the protocol, or of `provider`'))),
  provider: choice('Name for logs, loop ids and costs. The name of a known service also says where it is.', 'by the protocol'),
  name: choice('Shown to people.', 'the id'),
  reasoning: flag('The model can think.', 'by the model'),
  context_window: whole(1, 'Tokens.', 'by the protocol'),
  max_tokens: whole(1, 'Tokens of an answer, where the profile says nothing.', 'by the protocol'),
  first_byte_timeout_ms: patience(
    'How long the first byte of an answer is waited for.',
    `${grouped(defaultPatience.firstByteTimeoutMs)}; none for local servers`,
  ),
  idle_timeout_ms: patience('How long the next byte is waited for.', defaultPatience.idleTimeoutMs),
  progress_timeout_ms: patience('How long the next content is waited for.', defaultPatience.progressTimeoutMs),
  resource: onlyFor('azure_openai_responses', choice('Azure: the name of the resource, in place of `base_url`.')),
  project: onlyFor('google_vertex', choice('Vertex: the project.')),
  location: onlyFor('google_vertex', choice('Vertex: the location.', '`global`')),
  region: onlyFor('bedrock_converse_stream', choice('Bedrock: the region.', '`us-east-1`')),
  catalogue: flag(
    'Context window, longest answer and prices are those of `phi-core/models`, where the section does not say them.',
    '`false`',
  ),
  cost: table<CostSection>(costKeys, 'USD per million tokens. Without it, and without `catalogue`, `max_cost` does nothing.'),
  headers: as('headers', record('Sent with every call.')),
  compat: onlyFor('openai_completions', table<CompatSection>(compatKeys, 'How a service deviates from OpenAI; `openai_completions` only.')),
  server_tools: objects('Provider-executed tools, as the provider declares them.'),
  body: jsonTable('Fields of the request as the service calls them, merged into it last.'),
  limiter: table<LimiterSection>(limiterKeys, 'How much is asked of it at a time. Empty: as much as the service says in its headers.'),
  fallback: texts('`{{provider.id}}`, or the names of providers: asked in this order when this one fails.'),
  ...requestSettingsKeys,
}

/** A model and how to call it. */
export interface ModelSection extends FieldsOf<typeof modelKeys> {}

const providerInstanceKeys = {
  id: id('provider', 'Its name in the namespace `provider`, as `{{name}}`; else `name` is.'),
  description: text('For people.'),
  ...modelKeys,
}

/** `[[provider.instances]]`: another model, by name or id. Inherits nothing from `[provider]`. */
export interface ProviderInstanceSection extends FieldsOf<typeof providerInstanceKeys> {}

export const providerKeys = {
  ...modelKeys,
  instances: tables<ProviderInstanceSection>(providerInstanceKeys, 'Other models. They take nothing from `[provider]`.'),
}

/** `[provider]`: the default model of all agents. */
export interface ProviderSection extends FieldsOf<typeof providerKeys> {}
