/** What is waited for: words, words and nothing that an answer may need besides, or nothing. */
let awaited: 'words' | 'wordsAlone' | 'nothing' = 'words'
let end = (): void => {}

/** What a page needs behind the first words of an answer waits for them here: until then nothing competes with what shows them. */
export const firstWords: Promise<void> = new Promise((resolve) => {
  end = resolve
})

/** The answer that comes first is made of words alone: what keeps it, and tools, come behind them too. */
export function expectWordsAlone(): void {
  awaited = 'wordsAlone'
}

/** Whether such an answer is on its way. */
export function areWordsAlone(): boolean {
  return awaited === 'wordsAlone'
}

/** They are there, or nobody waits for any. */
export function endFirstWords(): void {
  awaited = 'nothing'
  end()
}
