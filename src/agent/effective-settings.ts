import { definedFields } from '../contract/json.ts'
import { type FullLimits, fullLimits, fullRetry, plainDefaults, type RetryConfig } from '../contract/run/settings.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { AgentSettings } from './agent-options.ts'

/** Settings that have a default which does not depend on the model. */
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
 * The settings that the next run of an agent has: those that were given, and the defaults of the others.
 *
 * - `limits` and `retry` have all their fields. They are `false` if they are switched off, `limits` also by `contextManagement: false`.
 * - Settings that the model decides appear only if they were given: `thinking`, `maxTokens`, other request settings, `contextConfig`.
 *   `settings.model.config` has those of the model.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export type EffectiveSettings<Output = unknown> = Omit<AgentSettings<Output>, keyof Defaulted> & Defaulted

/** Adds the defaults to the settings that were given. */
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

/** With a list of tools that nobody else changes. A set that changes by itself, such as that of an MCP server, stays as it is. */
export function withOwnTools<Output>(settings: AgentSettings<Output>): AgentSettings<Output> {
  const { tools } = settings
  return tools === undefined || 'subscribe' in tools ? settings : { ...settings, tools: [...tools] }
}

const givenTo = new WeakMap<object, AgentSettings>()

/** Notes what an agent was given, for {@link givenSettings}. */
export function noteGiven(agent: object, given: AgentSettings): void {
  givenTo.set(agent, given)
}

/** The settings of an agent without the defaults: what is made of it may have others. */
export function givenSettings(agent: { readonly settings: AgentSettings }): AgentSettings {
  return givenTo.get(agent) ?? agent.settings
}
