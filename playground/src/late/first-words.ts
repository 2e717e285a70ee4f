let end = (): void => {}

/** What a page needs behind the first words of an answer waits for them here: until then nothing competes with what shows them. */
export const firstWords: Promise<void> = new Promise((resolve) => {
  end = resolve
})

/** They are there, or nobody waits for any. */
export function endFirstWords(): void {
  end()
}
