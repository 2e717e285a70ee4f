/** Reserved words of a shell behind which a command stands. */
export const leadingWords: readonly string[] = ['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{']

/** Reserved words of a shell that end what the leading ones began. */
export const closingWords: readonly string[] = ['fi', 'done', '}']
