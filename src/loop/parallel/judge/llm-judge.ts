import { lastAnswerText } from '../../../contract/message/message.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'
import { checkOptions } from '../../../contract/shape/read.ts'
import { anObject, aText, options as optionsOf, required } from '../../../contract/shape/shape.ts'
import { checkConfig } from '../../check-config.ts'
import type { LoopConfig } from '../../loop-config.ts'
import { candidates, type Evaluation, type EvaluationInput, type EvaluationStrategy, type ParallelOutcome } from '../evaluation-strategy.ts'
import { fitForJudge } from './fit-judge.ts'
import { type JudgeMaterial, judgePrompt, judgeSystemPrompt, parseJudgeReply } from './judge-prompt.ts'
import { questionOf, transcript } from './transcript.ts'

/** Who judges, with which settings and which words. */
export interface LlmJudgeOptions {
  /** Model and settings of the judge. With `contextConfig.maxContextTokens`, what it reads is cut to four fifths of that. */
  config: LoopConfig
  /** Default: an impartial judge that replies with a number. */
  systemPrompt?: string
}

const judgeOptions = optionsOf<LlmJudgeOptions>({ config: required(anObject), systemPrompt: aText })

/**
 * Asks a model which branch answered best.
 *
 * **Contract**
 * - The judge reads the words of the conversation, the query and the last words of each branch; no calls, results, images or thinking of the
 *   branches. It is shown the branches that completed, all where none did, and not asked where only one is left or none has words.
 * - All of it is fenced with a token that is new for each judgement (see {@link judgePrompt}).
 * - It runs as a loop of the same session, with an id of its own, on the shared budget. A judge that fails, or whose reply does not clearly
 *   name one response by its number, counts as a strategy that fails: `evaluationFailed` is logged, and the first of the shown is chosen.
 * - What it reads may be cut (see {@link fitForJudge}); what the branches said stays as it is. When it does not fit even then, a `progressMessage`
 *   of the call `judge-compaction` says so, and it is asked all the same.
 * - Throws `ConfigError` `invalidOption` for a configuration that cannot work.
 *
 * Source: docs/concepts/parallel-loops.md
 */
export function llmJudge(options: LlmJudgeOptions): EvaluationStrategy {
  checkOptions(options, judgeOptions)
  const { config, systemPrompt = judgeSystemPrompt } = options
  checkConfig(config, 'config')
  return {
    name: 'llmJudge',
    evaluate: async (input): Promise<Evaluation> => {
      const judged = candidates(input.outcomes)
      const material = judgeMaterial(input, judged)
      const [first] = judged
      if (first === undefined) throw new Error('there is no branch to judge')
      if (judged.length === 1 || material.responses.every((response) => response === '')) {
        return { selectedIndex: first.index, usage: emptyUsage() }
      }
      const result = await input.ask(judgePrompt(fitted(material, config, input)), config, systemPrompt)
      if (result.status !== 'completed') throw new Error(`the judge ended with status ${result.status}: ${result.error?.message ?? ''}`)
      const named = judged[parseJudgeReply(result.text, judged.length) ?? -1]
      if (named === undefined) throw new Error(`the judge named no response from 1 to ${judged.length}: ${excerpt(result.text)}`)
      return { selectedIndex: named.index, usage: result.usage, reason: result.text }
    },
  }
}

function excerpt(reply: string): string {
  return JSON.stringify(reply.length > 80 ? `${reply.slice(0, 80)}…` : reply)
}

function judgeMaterial({ prompt, outcomes }: EvaluationInput, judged: readonly ParallelOutcome[]): JudgeMaterial {
  const [any] = outcomes
  const { query, history } = questionOf(prompt, any === undefined ? [] : any.context.messages.slice(0, any.originalContextLength))
  return { context: transcript(history), query, responses: judged.map((outcome) => lastAnswerText(outcome.result.messages)) }
}

function fitted(material: JudgeMaterial, { contextConfig }: LoopConfig, { progress }: EvaluationInput): JudgeMaterial {
  if (contextConfig === undefined || contextConfig === false || contextConfig.maxContextTokens === undefined) return material
  const { maxContextTokens, tokenCounter } = contextConfig
  const budget = Math.floor((maxContextTokens * 4) / 5)
  const fit = fitForJudge(material, budget, tokenCounter && ((text) => tokenCounter.text(text)))
  if (!fit.fits) {
    const text = `The responses do not fit into the ${budget} tokens the judge may read, even when cut; it decides on what is left of them.`
    progress({ toolCallId: 'judge-compaction', toolName: 'LlmJudgeEvaluation', text })
  }
  return fit.material
}
