import { ConfigError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import { settingsIn } from '../../contract/model/request-settings.ts'
import type { Agent } from '../agent.ts'
import { givenSettings } from '../agent-settings.ts'
import { type SubAgentOptions, SubAgentTool } from './sub-agent-tool.ts'

/** Name and description of the sub-agent, and overrides of the agent's settings. */
export type AsToolOptions = Pick<SubAgentOptions, 'name' | 'description'> & Partial<SubAgentOptions>

/**
 * Wraps an agent as a tool for another agent.
 *
 * **Contract**
 * - Uses the current model, prompt, tools, skills, limits, hooks and request settings of `agent`, overridden by `options`.
 * - Each call is a separate conversation: it neither reads nor changes the history of `agent`. Calls are stored only if `options.session`
 *   is set.
 * - Throws `ConfigError` as `SubAgentTool` does, and `invalidOption` if the agent's system prompt is a function. In that case, pass a
 *   string in `options`.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * ```ts
 * const boss = new Agent({ model, tools: [asTool(researcher, { name: 'research', description: 'Looks things up.' })] })
 * ```
 */
export function asTool(agent: Agent, options: AsToolOptions): SubAgentTool {
  // Copies only the explicit settings, because sub-agents have different defaults.
  const settings = givenSettings(agent)
  const { systemPrompt = settings.systemPrompt } = options
  if (typeof systemPrompt === 'function') {
    throw new ConfigError('invalidOption', "This agent's systemPrompt is a function. Pass a string to asTool: { systemPrompt }.")
  }
  const { model, tools, skills, thinking, cache, toolExecution, toolTimeoutMs, approvalTimeoutMs, retry } = settings
  const { hooks, inputFilters, plugins, requireMedia, resolveMedia, schemaValidator, logger } = settings
  const { maxTurns, maxTotalTokens, maxDurationMs } = settings.limits || {}
  return new SubAgentTool({
    ...settingsIn(settings),
    model,
    ...definedFields({
      ...{ systemPrompt, skills, thinking, cache, toolExecution, toolTimeoutMs, approvalTimeoutMs, retry },
      ...{ hooks, inputFilters, plugins, requireMedia, resolveMedia, schemaValidator, logger, maxTurns, maxTotalTokens, maxDurationMs },
      tools: tools && [...tools],
    }),
    ...options,
  })
}
