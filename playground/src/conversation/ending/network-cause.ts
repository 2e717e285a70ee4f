/** Finds out why a request failed. Browsers do not report it. */
export type NetworkCause = 'offline' | 'back' | 'policy' | 'origin' | 'unreachable'

export const networkCauses: Record<NetworkCause, string> = {
  offline: 'This device is offline. Try again when the network is back.',
  back: 'This device was offline. The network is back: try again.',
  policy: 'The content security policy of this page does not let it call that address. Use the model proxy, or a page of your own.',
  origin: 'The server is there, but does not let this page call it (CORS). Allow this page there, or use the model proxy.',
  unreachable: 'Nothing answers at that address. Check that the server runs, and the address in the settings.',
}

/** Requests the server at `url` once, without a key, and ignores the response. */
export async function networkCause(url: string): Promise<NetworkCause | undefined> {
  if (!navigator.onLine) return 'offline'
  if (!URL.canParse(url)) return undefined
  let isForbidden = false
  const onViolation = ({ blockedURI }: SecurityPolicyViolationEvent) => {
    if (URL.canParse(blockedURI) && new URL(blockedURI).origin === new URL(url).origin) isForbidden = true
  }
  document.addEventListener('securitypolicyviolation', onViolation)
  try {
    await fetch(new URL(url).origin, { mode: 'no-cors', credentials: 'omit', signal: AbortSignal.timeout(5000) })
    return 'origin'
  } catch {
    // The event follows the rejection.
    await new Promise((resolve) => setTimeout(resolve))
    return isForbidden ? 'policy' : 'unreachable'
  } finally {
    document.removeEventListener('securitypolicyviolation', onViolation)
  }
}
