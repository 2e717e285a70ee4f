/**
 * The agent loop without the agent: call it directly, extend it with plugins and hooks, observe it, or run several loops and select one
 * result.
 *
 * @example
 * ```ts
 * const result = await parallelLoop({
 *   ...{ prompt: 'Name this product.', context, emit, signal },
 *   configs: [{ model: fast }, { model: deep }],
 *   strategy: llmJudge({ config: { model: deep } }),
 * })
 * ```
 *
 * @module
 */

export { createBudget } from './context/execution-budget.ts'
export type { ApprovalRequestedEvent } from './contract/run/call-event.ts'
export type { AgentStartEvent } from './contract/run/event.ts'
export type { ContinuationKind, ModelName, RunFailure } from './contract/run/run-facts.ts'
export { defaultLimits, defaultRetry, type QueueMode } from './contract/run/settings.ts'
export { agentLoop, continueLoop } from './loop/agent-loop.ts'
export { Approvals } from './loop/ask/pending-requests.ts'
export type { AgentContext, LoopConfig, LoopOptions, MessageSupplier } from './loop/loop-config.ts'
export { contextOf, snapshotOfContext } from './loop/parallel/agent-context.ts'
export { llmJudge } from './loop/parallel/llm-judge.ts'
export { parallelLoop } from './loop/parallel/parallel-loop.ts'
export { type Evaluation, type EvaluationStrategy, elaborate, pickFirst, tokenEfficient, transparent } from './loop/parallel/strategies.ts'
export { definePlugin } from './loop/plugins/define-plugin.ts'
export { costOver, toolCalled, turnCount } from './loop/turn/stop-conditions.ts'
export type { AgentPlugin, HookVerdict } from './types/run/hooks.ts'
export type { LoopObserver, LoopWatch, TraceContext } from './types/run/loop-watch.ts'
export type { PluginCall, PluginDefinition, PluginRequest, PluginRun, PluginTurn } from './types/run/plugin.ts'
export type { ApprovalDecision, ApprovalRef, ApprovalRequest, ApproveOptions, InputFilter } from './types/run/question.ts'
export type { LoopHooks, StopCondition, TurnChanges, UpcomingTurn } from './types/run/turn.ts'
export type { BackgroundTask } from './types/tool/tool.ts'
