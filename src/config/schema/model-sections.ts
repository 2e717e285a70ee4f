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

/** Protocol names in files. The first name on each line comes from the specification. */
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
  top_p: setting('topP', 'Nucleus sampling: the cumulative probability of candidate tokens.'),
  top_k: setting('topK', 'Number of most likely tokens to sample from.'),
  stop_sequences: setting('stopSequences', 'Strings that end a response.'),
  seed: setting('seed', 'Seed for reproducible responses, if the provider supports it.'),
  frequency_penalty: setting('frequencyPenalty', 'Positive values reduce repetition of frequent tokens.'),
  presence_penalty: setting('presencePenalty', 'Positive values reduce repetition of any token that already occurred.'),
  verbosity: setting('verbosity', 'Verbosity of responses.'),
  tool_choice: toolChoice('`auto`, `none`, `required`, or the name of a tool to force.', '`auto`'),
  parallel_tool_calls: setting('parallelToolCalls', 'Whether a response can contain several tool calls.', '`true`'),
  thinking_budget: setting('thinkingBudget', 'Maximum thinking tokens, for models with a token budget.'),
  thinking_summary: setting('thinkingSummary', 'Detail of the thinking summary.', "the provider's default"),
  service_tier: setting('serviceTier', 'Service tier (price and latency) of the provider.', "the account's default"),
  cache_ttl: setting('cacheTtl', 'Lifetime of prompts in the cache of the provider.', '`5m`'),
  user: setting('user', 'Identifier of the end user, without personal data.'),
  require_media: setting('requireMedia', 'Fails before the request if the model does not support a media type.', '`false`'),
  strict: setting('strict', 'Fails if the model does not support a setting.', '`false`'),
} satisfies Record<InFile<Exclude<SettingName, 'maxTokens' | 'headers' | 'body'>>, Key>

const patience = (about: string, fallback: string | number) =>
  wholeOr(1, 'none', (limit) => (limit === 'none' ? false : limit), about, fallback)

const rates = (fallback: string) => ({
  input_per_million: number(0, 'Input tokens.', fallback),
  output_per_million: number(0, 'Output tokens.', fallback),
  cache_read_per_million: number(0, 'Cached input tokens.', fallback),
  cache_write_per_million: number(0, 'Input tokens written to the cache.', fallback),
})
export const costTierKeys = {
  input_tokens_above: required(whole(1, 'Applies to prompts with more tokens than this, including cached tokens.')),
  ...rates('the rate for short prompts'),
  cache_write_1h_per_million: number(0, 'Input tokens cached for one hour.', '1.6 times `cache_write_per_million`'),
}

/** `[[provider.cost.tiers]]`: USD per million tokens, for calls with a long prompt. */
export interface CostTierSection extends FieldsOf<typeof costTierKeys> {}

export const costKeys = {
  ...rates('0'),
  cache_write_1h_per_million: costTierKeys.cache_write_1h_per_million,
  tiers: tables<CostTierSection>(costTierKeys, 'Rates for long prompts.'),
}

/** `[provider.cost]`: USD per million tokens. */
export interface CostSection extends FieldsOf<typeof costKeys> {}

/** Accepted with and without underscores. */
const formatSpellings = [...new Set(compatFields.thinkingFormat.words.flatMap((format) => [format.toLowerCase(), inFile(format)]))]

export const compatKeys = {
  supports_store: flag('Supports `store`.'),
  supports_developer_role: flag('Supports the role `developer`.'),
  supports_reasoning_effort: flag('Supports `reasoning_effort`.'),
  supports_usage_in_streaming: flag('Reports token usage while streaming.'),
  max_tokens_field: word(compatFields.maxTokensField.words, 'Request field for the maximum response tokens.'),
  requires_tool_result_name: flag('Requires the tool name in tool results.'),
  requires_assistant_after_tool_result: flag('Requires an assistant message after tool results.'),
  thinking_format: alias(
    'reasoning_format',
    word(compatFields.thinkingFormat.words, 'Request format for thinking.', undefined, formatSpellings),
  ),
  thinking_field: word(
    compatFields.thinkingField.words,
    'Message field that returns the reasoning of earlier responses.',
    '`received`: the field it arrived in',
  ),
} satisfies Record<InFile<keyof typeof compatFields>, Key>

/** `[provider.compat]`: differences between a provider and OpenAI. */
export interface CompatSection extends FieldsOf<typeof compatKeys> {}

export const limiterKeys = {
  concurrency: whole(1, 'Maximum concurrent calls.', 'no limit'),
  requests: whole(1, 'Maximum calls that start within `per_ms`.', 'no limit'),
  tokens: whole(1, 'Maximum input and output tokens within `per_ms`.', 'no limit'),
  per_ms: whole(1, 'Length of the rate-limit window in milliseconds.', defaultPerMs),
  max_wait_ms: number(0, 'Maximum milliseconds in the queue. After that, the call uses the `fallback` or fails.', 'no limit'),
} satisfies Record<InFile<keyof LimiterOptions | Exclude<keyof LimitedOptions, 'priority'>>, Key>

/** `[provider.limiter]`: rate and concurrency limits for a provider. */
export interface LimiterSection extends FieldsOf<typeof limiterKeys> {}

const choice = (about: string, fallback?: string) => as('choice', text(about, fallback))

export const modelKeys = {
  model: choice('Model id, or `provider/model` if `api`, `provider` and `base_url` are not set.'),
  api_key: choice('API key. Refer to an environment variable instead of the key itself.'),
  api: as(
    'choice',
    word(
      protocolWords,
      'API protocol. The model id does not determine it.',
      'derived from `provider` or `provider/model`, otherwise `anthropic_messages`',
    ),
  ),
  base_url: as('choice', alias('url', text('Base URL of the provider.', 'derived from `provider` or the protocol'))),
  provider: choice('Provider name for logs, loop ids and costs. A known name also sets the base URL.', 'depends on the protocol'),
  name: choice('Display name.', 'the id'),
  reasoning: flag('Whether the model supports thinking.', 'depends on the model'),
  context_window: whole(1, 'Context window in tokens.', 'depends on the protocol'),
  max_tokens: whole(1, 'Maximum tokens of a response, if the profile does not set it.', 'depends on the protocol'),
  first_byte_timeout_ms: patience(
    'Timeout for the first byte of a response.',
    `${grouped(defaultPatience.firstByteTimeoutMs)}; none for local servers`,
  ),
  idle_timeout_ms: patience('Timeout between bytes of a response.', defaultPatience.idleTimeoutMs),
  progress_timeout_ms: patience('Timeout between content of a response.', defaultPatience.progressTimeoutMs),
  resource: onlyFor('azure_openai_responses', choice('Azure: resource name, instead of `base_url`.')),
  project: onlyFor('google_vertex', choice('Vertex: project id.')),
  location: onlyFor('google_vertex', choice('Vertex: the location.', '`global`')),
  region: onlyFor('bedrock_converse_stream', choice('Bedrock: the region.', '`us-east-1`')),
  catalogue: flag('Uses context window, output limit and prices from `phi-core/models`, unless this section sets them.', '`false`'),
  cost: table<CostSection>(costKeys, 'USD per million tokens. Without `cost` or `catalogue`, `max_cost` has no effect.'),
  headers: as('headers', record('HTTP headers of every request.')),
  compat: onlyFor('openai_completions', table<CompatSection>(compatKeys, 'Differences from OpenAI; `openai_completions` only.')),
  server_tools: objects("Provider-executed tools, in the provider's format."),
  body: jsonTable('Additional fields of the request body, merged last.'),
  limiter: table<LimiterSection>(limiterKeys, 'Rate limits of calls. Empty: follows the rate-limit headers of the provider.'),
  fallback: texts('`{{provider.id}}`, or the names of providers: called in this order when this provider fails.'),
  ...requestSettingsKeys,
}

/** A model and how to call it. */
export interface ModelSection extends FieldsOf<typeof modelKeys> {}

const providerInstanceKeys = {
  id: id('provider', 'Id in the namespace `provider`; refer to it as `{{name}}`. Default: `name`.'),
  description: text('For display only.'),
  ...modelKeys,
}

/** `[[provider.instances]]`: another model, by name or id. Inherits nothing from `[provider]`. */
export interface ProviderInstanceSection extends FieldsOf<typeof providerInstanceKeys> {}

export const providerKeys = {
  ...modelKeys,
  instances: tables<ProviderInstanceSection>(providerInstanceKeys, 'Additional models. They inherit nothing from `[provider]`.'),
}

/** `[provider]`: the default model of all agents. */
export interface ProviderSection extends FieldsOf<typeof providerKeys> {}
