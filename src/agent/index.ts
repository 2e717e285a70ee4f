/**
 * What is made of agents: agents as tools of others, branches of a conversation tried side by side, profiles and system prompts.
 *
 * @example
 * ```ts
 * const research = new SubAgentTool({ name: 'research', description: 'Looks things up.', model, tools: [searchTool] })
 * ```
 *
 * @module
 */

export type { CompactOptions } from './agent-options.ts'
export { type Branch, type BranchSpec, type ExploreOptions, exploreBranches } from './explore-branches.ts'
export { type ParallelModels, parallel } from './parallel.ts'
export { type AgentProfile, applyProfile, profileDefaults } from './profile.ts'
export { type AsToolOptions, asTool } from './sub-agent/as-tool.ts'
export { type BackgroundOptions, isSubAgentTool, type SubAgentOptions, SubAgentTool } from './sub-agent/sub-agent-tool.ts'
export { agentPrompt, composeSystemPrompt, minimalPrompt, type PromptBlock, type SystemPromptStrategy } from './system-prompt.ts'
