import { ExecutionBudget } from '../context/execution-budget.ts'
import type { PromptInput } from '../contract/message/message.ts'
import type { SharedLimits } from '../contract/run/settings.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText, listOf, options as optionsOf, required } from '../contract/shape/shape.ts'
import { sharedLimits } from '../loop/check-config.ts'
import type { AgentRun } from '../types/run/run.ts'
import type { Agent } from './agent.ts'
import { type AgentOptions, type PromptOptions, promptTable } from './agent-options.ts'

/** Agent settings that one branch overrides. */
export interface BranchSpec extends Partial<Omit<AgentOptions, 'agentId' | 'sessionId'>> {
  /** Branch name reported in `agentStart`. */
  tag: string
  /** The branch's prompt. Default: continues the history without new input. */
  prompt?: PromptInput
}

/** A running branch with a separate agent and history. */
export interface Branch {
  tag: string
  agent: Agent
  run: AgentRun
}

/** Options that apply to all branches. */
export interface ExploreOptions extends Omit<PromptOptions, 'kind'> {
  /** Total token, time and cost limits across all branches, besides each branch's limits. Default: none. */
  limits?: Partial<SharedLimits>
}

const { kind: _ofBranches, ...ofPrompt } = promptTable
const exploreOptions = optionsOf<ExploreOptions>({ ...ofPrompt, limits: sharedLimits })

/**
 * Runs several continuations of a conversation concurrently, each with a separate agent in the same session.
 *
 * **Contract**
 * - `agent` does not change. `agent.restore(branch.agent.checkpoint())` continues with one branch.
 * - Every run has kind `branch` and descends from the last loop of `agent`. `signal` stops all of them.
 * - If a branch cannot start, stops the others and throws as `agent.prompt` or `agent.continueLoop` does.
 *
 * Source: docs/concepts/sessions.md
 */
export function exploreBranches(agent: Agent, specs: readonly BranchSpec[], given: ExploreOptions = {}): Branch[] {
  checkOptions(given, exploreOptions)
  checkOptions(specs, listOf(optionsOf({ tag: required(aText) }, true)), 'specs')
  const { limits, ...options } = given
  const branches: Branch[] = []
  const none = { maxTurns: Infinity, maxTotalTokens: Infinity, maxDurationMs: Infinity }
  const budget = limits === undefined ? options.budget : new ExecutionBudget({ ...none, ...limits }, options.budget)
  try {
    for (const { tag, prompt, ...overrides } of specs) {
      const fork = agent.fork(overrides)
      const branchOptions: PromptOptions = { ...options, ...(budget !== undefined && { budget }), kind: { kind: 'branch', tag } }
      const run = prompt === undefined ? fork.continueLoop(branchOptions) : fork.prompt(prompt, branchOptions)
      branches.push({ tag, agent: fork, run })
    }
  } catch (error) {
    for (const { run } of branches) run.abort(error)
    throw error
  }
  return branches
}
