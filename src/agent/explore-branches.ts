import { ExecutionBudget } from '../context/execution-budget.ts'
import type { PromptInput } from '../contract/message/message.ts'
import type { SharedLimits } from '../contract/run/settings.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText, listOf, options as optionsOf, required } from '../contract/shape/shape.ts'
import { sharedLimits } from '../loop/check-config.ts'
import type { AgentRun } from '../types/run/run.ts'
import type { Agent } from './agent.ts'
import { type AgentOptions, type PromptOptions, promptTable } from './agent-options.ts'

/** How a branch differs from the conversation it leaves. */
export interface BranchSpec extends Partial<Omit<AgentOptions, 'agentId' | 'sessionId'>> {
  /** Names the branch in its `agentStart`. */
  tag: string
  /** What is said on the branch. Default: the history is answered as it is. */
  prompt?: PromptInput
}

/** A branch that runs: an agent of its own, with a history of its own from here on. */
export interface Branch {
  tag: string
  agent: Agent
  run: AgentRun
}

/** What holds for all branches. */
export interface ExploreOptions extends Omit<PromptOptions, 'kind'> {
  /** What all branches together may use: tokens, time and cost. The limits of each hold beside it. Default: none. */
  limits?: Partial<SharedLimits>
}

const { kind: _ofBranches, ...ofPrompt } = promptTable
const exploreOptions = optionsOf<ExploreOptions>({ ...ofPrompt, limits: sharedLimits })

/**
 * Runs several continuations of a conversation at once, each on an agent of its own in the same session.
 *
 * **Contract**
 * - `agent` itself does not change; `agent.restore(branch.agent.checkpoint())` goes on with one of them.
 * - Every run has kind `branch` and descends from the last loop of `agent`. `signal` stops all of them.
 * - Throws as `agent.prompt` or `agent.continueLoop` for a branch that cannot begin; the others are stopped then.
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
