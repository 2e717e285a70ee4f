/**
 * One prompt, several configurations, one outcome chosen by a strategy. Not part of the core bundle.
 *
 * @module
 */
export { contextOf, snapshotOfContext } from './agent-context.ts'
export type { Evaluation, EvaluationInput, EvaluationStrategy, ParallelOutcome } from './evaluation-strategy.ts'
export { judgeSystemPrompt } from './judge/judge-prompt.ts'
export { type LlmJudgeOptions, llmJudge } from './judge/llm-judge.ts'
export { type ParallelOptions, type ParallelResult, parallelLoop } from './parallel-loop.ts'
export { elaborate, pickFirst, tokenEfficient, transparent } from './strategies.ts'
