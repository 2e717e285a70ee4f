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
 * Returns the request settings that a run records for its continuation: `before`, overridden by `given`; `undefined` if empty. Settings
 * that a record cannot store are listed by name.
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
    // JSON has no infinity.
    ...(maxTokens !== undefined && Number.isFinite(maxTokens) && { maxTokens }),
    ...definedFields({ thinking, repair, model, tools, clientTools, body: open, responseFormat: format }),
    ...(unrecorded.length > 0 && { unrecorded }),
  }
  return Object.keys(settings).length === 0 ? undefined : settings
}

/** Logs settings of the continued prompt that could not be recorded and are not given again. */
export function tellMissing(before: PromptSettings, given: PromptOptions, logger: AgentSettings['logger']): void {
  const missing = missingOf(before, given)
  if (missing.length === 0) return
  logWarning(logger, 'promptSettingsMissing', {
    message: `The run continues without the settings of its prompt for ${missing.join(', ')}: no record holds that.`,
    hint: 'Give it to continueLoop again.',
  })
}

/** Returns settings that were not recorded and are not given again. */
function missingOf({ unrecorded = [] }: PromptSettings, given: PromptOptions): string[] {
  const again = new Set(Object.keys(definedFields(given)))
  return unrecorded.filter((name) => !again.has(name.split('.', 1).join()))
}

/** Removes settings given anew: if the new value cannot be recorded, the old one must not remain. */
function withoutGiven(before: PromptSettings, given: PromptOptions): PromptSettings {
  const again = new Set(Object.keys(definedFields(given)))
  return Object.fromEntries(Object.entries(before).filter(([name]) => !again.has(name)))
}

/** Returns the format as plain JSON; `undefined` if there is none, or it has no JSON form. */
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
 * - `limits` and `retry` have all fields. They are `false` if switched off; `contextManagement: false` also switches off `limits`.
 * - Settings with model-dependent defaults are present only if given: `thinking`, `maxTokens`, other request settings, `contextConfig`.
 *   `settings.model.config` has those of the model.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export type EffectiveSettings<Output = unknown> = Omit<AgentSettings<Output>, keyof Defaulted> & Defaulted

/** Applies defaults to the given settings. */
export function effectiveSettings<Output>(given: AgentSettings<Output>): EffectiveSettings<Output> {
  const { limits, retry, contextManagement = true } = given
  const { queueMode, ...plain } = plainDefaults
  return {
    ...{ tools: [], ...plain, steeringMode: queueMode, followUpMode: queueMode },
    ...(definedFields(given) as AgentSettings<Output>), // without what is undefined it is the same
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

/** Remembers the given settings of an agent, for {@link givenSettings}. */
export function noteGiven(agent: object, given: AgentSettings): void {
  givenTo.set(agent, given)
}

/** Returns an agent's settings without defaults: an agent derived from it may have other ones. */
export function givenSettings(agent: { readonly settings: AgentSettings }): AgentSettings {
  return givenTo.get(agent) ?? agent.settings
}
