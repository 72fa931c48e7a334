"""One file a kind of evidence: each turns a record of core.evidence into what the browser draws, and knows no model."""
