/**
 * The loop beneath an agent: to call it yourself, to hook into it, to watch it, and to run several at once and choose one outcome. Here are also the
 * types of single events.
 *
 * @example
 * ```ts
 * const result = await parallelLoop({ prompt, context, configs: [fast, deep], strategy: llmJudge({ config: deep }), emit, signal })
 * ```
 *
 * @module
 */

export { createBudget } from '../context/execution-budget.ts'
export type { OutputForm } from '../contract/model/request-settings.ts'
export type { RateLimit, RateLimits } from '../contract/model/usage.ts'
export type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  BackgroundEndEvent,
  BackgroundStartEvent,
  ClientCallRequestedEvent,
  ClientCallResolvedEvent,
  InputRequestedEvent,
  InputResolvedEvent,
  ProgressMessageEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../contract/run/call-event.ts'
export type {
  AgentEndEvent,
  AgentStartEvent,
  ChildEvent,
  CompactionEndedEvent,
  CompactionStartedEvent,
  InputRejectedEvent,
  MessageEndEvent,
  MessageStartEvent,
  MessageUpdateEvent,
  ParallelLoopEndEvent,
  ParallelLoopStartEvent,
  ProviderRetryEvent,
  PrunAppliedEvent,
  RevertAppliedEvent,
  SharedStateChangedEvent,
  TurnRequestEvent,
} from '../contract/run/event.ts'
export type {
  ContinuationKind,
  EndedBy,
  EventBase,
  InputQuestion,
  LoopConfigSnapshot,
  ModelName,
  RunFailure,
  SubAgentRef,
  TurnChangesRecord,
  TurnTrigger,
} from '../contract/run/run-facts.ts'
export {
  defaultLimits,
  defaultRetry,
  type OnRunEnd,
  type QueueMode,
  type ReachedLimit,
  type SharedLimits,
} from '../contract/run/settings.ts'
export type { ModelFallbackEvent, RateLimitsEvent, TurnEndEvent, TurnPreparedEvent, TurnStartEvent } from '../contract/run/turn-event.ts'
export type { Budget, BudgetUse, ReadableBudget } from '../types/run/budget.ts'
export type {
  AnswerHookInfo,
  AnswerVerdict,
  BeforeToolInfo,
  BrokenCallInfo,
  CompactionFigures,
  HookDone,
  HookOrigin,
  HookRefusal,
  HookVerdict,
  RepairedArguments,
  ReplacedArguments,
  ReplacedResult,
  ToolHookInfo,
  TurnHookInfo,
} from '../types/run/hooks.ts'
export type { LoopObserver, LoopStep, LoopWatch, ModelAnswer, TraceContext, WatchedLoop } from '../types/run/loop-watch.ts'
export type {
  ApprovalDecision,
  ApprovalHandler,
  ApprovalRef,
  ApprovalRequest,
  ApprovalRule,
  ClientCallHandler,
  ClientCallOutcome,
  ClientCallRequest,
  FilterVerdict,
  InputFilter,
  InputHandler,
  InputRef,
  InputRequest,
  RunGuards,
} from '../types/run/question.ts'
export type { HookScripts, LoopHooks, RunProgress, ScriptableHook, StopCondition, TurnChanges, UpcomingTurn } from '../types/run/turn.ts'
export type { BackgroundTask, BackgroundTasks, BackgroundView } from '../types/tool/tool.ts'
export { agentLoop, continueLoop } from './agent-loop.ts'
export { Approvals } from './ask/pending-requests.ts'
export type { AgentContext, LoopConfig, LoopOptions, MessageSupplier } from './loop-config.ts'
export { contextOf, snapshotOfContext } from './parallel/agent-context.ts'
export { type LlmJudgeOptions, llmJudge } from './parallel/llm-judge.ts'
export { type ParallelOptions, type ParallelResult, parallelLoop } from './parallel/parallel-loop.ts'
export {
  type Evaluation,
  type EvaluationInput,
  type EvaluationStrategy,
  elaborate,
  type ParallelOutcome,
  pickFirst,
  tokenEfficient,
  transparent,
} from './parallel/strategies.ts'
export { costOver, toolCalled, turnCount } from './turn/stop-conditions.ts'
