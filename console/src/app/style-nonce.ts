/** What the page's policy asks of every style that is made while it runs. The server puts a fresh one into each page. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Dialogs lock scrolling with a style of a library that takes the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
