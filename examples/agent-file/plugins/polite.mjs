/** Asks the model to be polite. This plugin imports no package, so `phi` can remember that you trust it. */
export default ({ definePlugin }) =>
  definePlugin({
    name: 'polite',
    begin: () => ({ request: ({ systemPrompt }) => ({ systemPrompt: `${systemPrompt}\nBe polite.` }) }),
  })
