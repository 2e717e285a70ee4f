/** Reserved shell words that a command follows. */
export const leadingWords: readonly string[] = ['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{']

/** Reserved shell words that end a construct. */
export const closingWords: readonly string[] = ['fi', 'done', '}']
