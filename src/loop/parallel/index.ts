/**
 * One prompt, several configurations, one outcome chosen by a strategy. Not part of the core bundle.
 *
 * @module
 */
export { contextOf, snapshotOfContext } from './agent-context.ts'
export { judgeSystemPrompt, type LlmJudgeOptions, llmJudge } from './llm-judge.ts'
export { type ParallelOptions, type ParallelResult, parallelLoop } from './parallel-loop.ts'
export {
  type Evaluation,
  type EvaluationInput,
  type EvaluationStrategy,
  elaborate,
  type ParallelOutcome,
  pickFirst,
  tokenEfficient,
  transparent,
} from './strategies.ts'
