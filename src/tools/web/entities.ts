// Signs that pages write by name or number. The names are those that pages really use; any other stays as it is written.
// Pure.

const named: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "amp=& lt=< gt=> quot=\" apos=' copy=© reg=® trade=™ hellip=… mdash=— ndash=– lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ " +
    "laquo=« raquo=» lsaquo=‹ rsaquo=› bull=• middot=· deg=° plusmn=± times=× divide=÷ frac12=½ frac14=¼ frac34=¾ sup1=¹ sup2=² sup3=³ " +
    "micro=µ para=¶ sect=§ dagger=† Dagger=‡ permil=‰ euro=€ pound=£ yen=¥ cent=¢ curren=¤ iexcl=¡ iquest=¿ ordf=ª ordm=º not=¬ " +
    "larr=← uarr=↑ rarr=→ darr=↓ harr=↔ rArr=⇒ lArr=⇐ hArr=⇔ forall=∀ exist=∃ empty=∅ isin=∈ sum=∑ minus=− radic=√ infin=∞ cap=∩ cup=∪ " +
    "int=∫ asymp=≈ ne=≠ equiv=≡ le=≤ ge=≥ sub=⊂ sup=⊃ alpha=α beta=β gamma=γ delta=δ epsilon=ε lambda=λ mu=μ pi=π sigma=σ tau=τ phi=φ " +
    "omega=ω Delta=Δ Sigma=Σ Omega=Ω Agrave=À Aacute=Á Acirc=Â Atilde=Ã Auml=Ä Aring=Å AElig=Æ Ccedil=Ç Egrave=È Eacute=É Ecirc=Ê " +
    "Euml=Ë Igrave=Ì Iacute=Í Icirc=Î Iuml=Ï Ntilde=Ñ Ograve=Ò Oacute=Ó Ocirc=Ô Otilde=Õ Ouml=Ö Oslash=Ø Ugrave=Ù Uacute=Ú Ucirc=Û " +
    "Uuml=Ü Yacute=Ý szlig=ß agrave=à aacute=á acirc=â atilde=ã auml=ä aring=å aelig=æ ccedil=ç egrave=è eacute=é ecirc=ê euml=ë " +
    "igrave=ì iacute=í icirc=î iuml=ï ntilde=ñ ograve=ò oacute=ó ocirc=ô otilde=õ ouml=ö oslash=ø ugrave=ù uacute=ú ucirc=û uuml=ü " +
    "yacute=ý yuml=ÿ oelig=œ OElig=Œ scaron=š Scaron=Š check=✓ star=☆"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])
    .concat([
      ["nbsp", "\u00a0"],
      ["ensp", " "],
      ["emsp", " "],
      ["thinsp", " "],
      ["shy", ""],
      ["zwj", "\u200d"],
      ["zwnj", ""],
    ]),
);

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z][a-zA-Z0-9]{1,12}));?/g, (whole, ten, hex, name) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? whole) : whole;
    return signOf(ten === undefined ? Number.parseInt(hex, 16) : Number(ten));
  });
}

/** Numbers that are no sign are shown as what browsers show. */
function signOf(code: number): string {
  const isSign = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isSign ? String.fromCodePoint(code) : "\ufffd";
}
