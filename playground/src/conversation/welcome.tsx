/** What an empty page says. */
export function Welcome() {
  return (
    <div class="welcome">
      <h2>An agent in this tab</h2>
      <p>
        The loop, the tools, the approvals and the retries are the real SDK. Only the model is <strong>scripted</strong>: it plays prepared
        answers and needs neither a key nor the network.
      </p>
      <p>Pick a scenario below, or write something.</p>
    </div>
  )
}
