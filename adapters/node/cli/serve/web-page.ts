/** The page of a conversation: the web components of this package, with the styles of a plain chat. Everything in it comes from this server. */
export const pageHtml = `<!doctype html>
<html lang="en">
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>phi</title>
<link rel="stylesheet" href="/phi.css" />
<script type="module" src="/phi.js"></script>
<main></main>
</html>
`

/**
 * Takes the token out of the address, so that no history and no screenshot has it, and sends it with each call of the agent. It stays in the tab: a cookie
 * would go to every program that listens on this machine.
 */
export const pageScript = `const given = new URLSearchParams(location.hash.slice(1))
for (const name of ['token', 'session']) if (given.has(name)) sessionStorage.setItem('phi-' + name, given.get(name))
history.replaceState(null, '', location.pathname)
const own = globalThis.fetch
globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  if (!request.url.startsWith(location.origin + '/agent/')) return own(request)
  request.headers.set('authorization', 'Bearer ' + sessionStorage.getItem('phi-token'))
  return own(request)
}
await import('/phi-elements.js')
const chat = document.createElement('phi-chat')
chat.setAttribute('endpoint', '/agent')
const session = sessionStorage.getItem('phi-session')
if (session) chat.setAttribute('session', session)
document.querySelector('main').append(chat)
`

export const pageStyles = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 48rem; margin: 0 auto; padding: 1rem; }
phi-chat::part(messages) { list-style: none; margin: 0; padding: 0; }
phi-chat::part(message), phi-chat::part(tool), phi-chat::part(approval), phi-chat::part(composer) { display: block; margin-block: 0.75rem; }
phi-chat::part(author) { font-size: 0.8rem; opacity: 0.7; }
phi-chat::part(text) { margin: 0; }
phi-chat::part(tool), phi-chat::part(approval) { padding: 0.5rem 0.75rem; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: 0.5rem; }
phi-chat::part(message-user) { margin-inline-start: 20%; padding: 0.5rem 0.75rem; border-radius: 0.5rem; background: color-mix(in srgb, CanvasText 8%, Canvas); }
phi-chat::part(input), phi-chat::part(output) { overflow-x: auto; font-size: 0.85rem; }
phi-chat::part(text) { white-space: pre-wrap; overflow-wrap: anywhere; }
phi-chat::part(write) { width: 100%; box-sizing: border-box; font: inherit; }
`
