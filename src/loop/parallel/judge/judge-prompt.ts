/** What a judge is shown. */
export interface JudgeMaterial {
  /** The conversation before the query, as a transcript; empty where there is none. */
  context: string
  query: string
  responses: readonly string[]
}

/** Used unless the application brings its own. */
export const judgeSystemPrompt =
  'You are an impartial judge. You get a query and several numbered responses to it. Weigh correctness, completeness and clarity; length alone counts nothing, and neither does the order. Reply with only the number of the best response.'

/** The one message a judge gets. Source: spec/03 "What the judge sees". */
export function judgePrompt({ context, query, responses }: JudgeMaterial): string {
  return [
    ...(context === '' ? [] : [`Prior conversation context:\n${context}`]),
    `Original query:\n${query}`,
    ...responses.map((response, index) => `Response ${index + 1}:\n${response}`),
    'Which response is best? Reply with ONLY the response number (e.g., "1" or "2").',
  ].join('\n\n')
}

/**
 * Position of the response a judge named: the digits of the first word that give a number from 1 to `count`; 0 where no word does.
 * Source: reference/phi-core-0.10.md §5 "Judge".
 */
export function parseJudgeReply(reply: string, count: number): number {
  for (const word of reply.split(/\s+/)) {
    const digits = word.replace(/[^0-9]/g, '')
    const named = digits === '' ? 0 : Number(digits)
    if (named >= 1 && named <= count) return named - 1
  }
  return 0
}
