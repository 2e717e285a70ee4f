/** The expected output: text, a text-only response, or none. */
let awaited: 'words' | 'wordsAlone' | 'nothing' = 'words'
let end = (): void => {}

/** Delays other loading until the first words of a response are shown, so that nothing competes with them. */
export const firstWords: Promise<void> = new Promise((resolve) => {
  end = resolve
})

/** The first response is only text, so storage and tools also load after it. */
export function expectWordsAlone(): void {
  awaited = 'wordsAlone'
}

/** Returns whether such a response is expected. */
export function areWordsAlone(): boolean {
  return awaited === 'wordsAlone'
}

/** Called when the words are shown, or if none are expected. */
export function endFirstWords(): void {
  awaited = 'nothing'
  end()
}
