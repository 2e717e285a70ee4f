/** Asks the model to be polite. A plugin that is given `definePlugin` imports no package, so trust in it can be remembered. */
export default ({ definePlugin }) =>
  definePlugin({
    name: 'polite',
    begin: () => ({ request: ({ systemPrompt }) => ({ systemPrompt: `${systemPrompt}\nBe polite.` }) }),
  })
