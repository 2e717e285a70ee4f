/**
 * Composes agents: sub-agents as tools, parallel conversation branches, profiles and system prompts.
 *
 * @example
 * ```ts
 * const research = new SubAgentTool({ name: 'research', description: 'Looks things up.', model, tools: [search] })
 * ```
 *
 * @module
 */

export { type Branch, exploreBranches } from './agent/explore-branches.ts'
export { parallel } from './agent/parallel.ts'
export { type AgentProfile, applyProfile, profileDefaults } from './agent/profile.ts'
export { asTool } from './agent/sub-agent/as-tool.ts'
export { isSubAgentTool, type SubAgentOptions, SubAgentTool } from './agent/sub-agent/sub-agent-tool.ts'
export { agentPrompt, composeSystemPrompt, minimalPrompt, type SystemPromptStrategy } from './agent/system-prompt.ts'
