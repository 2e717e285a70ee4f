import { logWarning, mayHoldSecret } from '../base/log-warning.ts'
import { definedFields } from '../contract/json.ts'
import { type PromptSettings, type ResponseFormat, settingsIn } from '../contract/model/request-settings.ts'
import { type FullLimits, fullLimits, fullRetry, plainDefaults, type RetryConfig } from '../contract/run/settings.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import { plainFormat } from '../validation/response-format.ts'
import { isStandardSchema } from '../validation/tool-parameters.ts'
import type { AgentSettings, PromptOptions } from './agent-options.ts'

/**
 * Returns the request settings to record for a continuation: `before`, overridden by `given`, or `undefined` if empty. Settings that cannot
 * be stored are listed by name in `unrecorded`.
 */
export function askedSettings(before: PromptSettings, given: PromptOptions): PromptSettings | undefined {
  const { headers = {}, body, maxTokens, ...plain } = settingsIn(given)
  const { thinking, repair, responseFormat, model, tools, clientTools } = given
  const format = responseFormat && recordedFormat(responseFormat)
  const open = body !== undefined && !mayHoldSecret(body) ? structuredClone(body) : undefined
  const isWhole = format !== undefined && responseFormat !== undefined && !isStandardSchema(responseFormat)
  const unrecorded = [
    ...missingOf(before, given),
    ...Object.keys(headers).map((name) => `headers.${name}`),
    ...(body !== undefined && open === undefined ? ['body'] : []),
    ...(responseFormat !== undefined && !isWhole ? ['responseFormat'] : []),
  ]
  const { unrecorded: _, ...kept } = withoutGiven(before, given)
  const settings: PromptSettings = {
    ...kept,
    ...plain,
    // JSON cannot represent Infinity.
    ...(maxTokens !== undefined && Number.isFinite(maxTokens) && { maxTokens }),
    ...definedFields({ thinking, repair, model, tools, clientTools, body: open, responseFormat: format }),
    ...(unrecorded.length > 0 && { unrecorded }),
  }
  return Object.keys(settings).length === 0 ? undefined : settings
}

/** Logs a warning if the original prompt had unrecorded settings that `given` does not set. */
export function tellMissing(before: PromptSettings, given: PromptOptions, logger: AgentSettings['logger']): void {
  const missing = missingOf(before, given)
  if (missing.length === 0) return
  logWarning(logger, 'promptSettingsMissing', {
    message: `The run continues without its prompt's settings for ${missing.join(', ')}, because no record stores them.`,
    hint: 'Pass them to continueLoop again.',
  })
}

/** Returns the names of unrecorded settings that `given` does not set. */
function missingOf({ unrecorded = [] }: PromptSettings, given: PromptOptions): string[] {
  const again = new Set(Object.keys(definedFields(given)))
  return unrecorded.filter((name) => !again.has(name.split('.', 1).join()))
}

/** Removes settings that have a new value, so that the old value does not remain if the new one cannot be recorded. */
function withoutGiven(before: PromptSettings, given: PromptOptions): PromptSettings {
  const again = new Set(Object.keys(definedFields(given)))
  return Object.fromEntries(Object.entries(before).filter(([name]) => !again.has(name)))
}

/** Returns the format as plain JSON, or `undefined` if it is unset or has no JSON form. */
function recordedFormat(input: ResponseFormatInput): ResponseFormat | undefined {
  try {
    return JSON.parse(JSON.stringify(plainFormat(input)))
  } catch {
    return undefined
  }
}

/** Settings with a default that does not depend on the model. */
type Defaulted = Required<
  Pick<AgentSettings, 'toolExecution' | 'cache' | 'repair' | 'contextManagement' | 'steeringMode' | 'followUpMode'>
> & {
  tools: readonly AgentTool[]
  /** `false`: no limits. */
  limits: FullLimits | false
  /** `false`: no retries. */
  retry: RetryConfig | false
}

/**
 * Settings of an agent's next run, with defaults applied.
 *
 * - `limits` and `retry` contain all fields, or are `false` if disabled. `contextManagement: false` also disables `limits`.
 * - Settings with model-dependent defaults (`thinking`, `maxTokens`, other request settings, `contextConfig`) are present only if set.
 *   `settings.model.config` contains the model's values.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export type EffectiveSettings<Output = unknown> = Omit<AgentSettings<Output>, keyof Defaulted> & Defaulted

/** Returns the given settings with defaults applied. */
export function effectiveSettings<Output>(given: AgentSettings<Output>): EffectiveSettings<Output> {
  const { limits, retry, contextManagement = true } = given
  const { queueMode, ...plain } = plainDefaults
  return {
    ...{ tools: [], ...plain, steeringMode: queueMode, followUpMode: queueMode },
    ...(definedFields(given) as AgentSettings<Output>), // removing undefined properties keeps the type
    contextManagement,
    limits: limits === false || !contextManagement ? false : fullLimits(limits),
    retry: retry === false ? false : fullRetry(retry),
    ...(!contextManagement && { contextConfig: false }),
  }
}

/** Copies the list of tools. A dynamic set, such as that of an MCP server, stays shared. */
export function withOwnTools<Output>(settings: AgentSettings<Output>): AgentSettings<Output> {
  const { tools } = settings
  return tools === undefined || 'subscribe' in tools ? settings : { ...settings, tools: [...tools] }
}

const givenTo = new WeakMap<object, AgentSettings>()

/** Stores an agent's explicit settings, for {@link givenSettings}. */
export function noteGiven(agent: object, given: AgentSettings): void {
  givenTo.set(agent, given)
}

/** Returns an agent's explicit settings, because a derived agent may have other defaults. */
export function givenSettings(agent: { readonly settings: AgentSettings }): AgentSettings {
  return givenTo.get(agent) ?? agent.settings
}
