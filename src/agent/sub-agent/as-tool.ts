import { ConfigError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import { settingsIn } from '../../contract/model/request-settings.ts'
import type { Agent } from '../agent.ts'
import { givenSettings } from '../agent-settings.ts'
import { type SubAgentOptions, SubAgentTool } from './sub-agent-tool.ts'

/** What a sub-agent has that its agent does not say, and what it does otherwise. */
export type AsToolOptions = Pick<SubAgentOptions, 'name' | 'description'> & Partial<SubAgentOptions>

/**
 * An agent as a tool of another one.
 *
 * **Contract**
 * - It works with the model, prompt, tools, skills, limits, hooks and request settings that `agent` has now; `options` win. Each call is a conversation of
 *   its own: the history of `agent` is not seen and does not change, and nothing is stored unless `options.session` says where.
 * - Throws `ConfigError` as `SubAgentTool` does, and `invalidOption` where the system prompt of `agent` is a function: give a text in `options`.
 *
 * Source: docs/concepts/several-agents.md
 *
 * @example
 * ```ts
 * const boss = new Agent({ model, tools: [asTool(researcher, { name: 'research', description: 'Looks things up.' })] })
 * ```
 */
export function asTool(agent: Agent, options: AsToolOptions): SubAgentTool {
  // A task has defaults of its own.
  const settings = givenSettings(agent)
  const { systemPrompt = settings.systemPrompt } = options
  if (typeof systemPrompt === 'function') {
    throw new ConfigError('invalidOption', 'The system prompt of this agent is a function. Give asTool a text: { systemPrompt }.')
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
