/** Reads until `count` records are acknowledged, and resolves with the number of the last. The writer goes on. */
export async function lastAcknowledged(response: Response, count: number): Promise<number> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let lines = ['']
  while (lines.length <= count) {
    const { value, done } = (await reader?.read()) ?? { done: true }
    if (done) throw new Error(`The Worker stopped writing after ${lines.length - 1} records.`)
    lines = (lines.join('\n') + value).split('\n')
  }
  return Number(lines.at(-2))
}
