struct node { float value; struct node *next; };
void walk(struct node *nodes, float out[64])
{
    for (int i = 0; i < 64; i++) {
        struct node *p = &nodes[i];
        while (p->next)
            p = p->next;
        if (p->value < 0) goto done;
        out[i] = p->value;
    }
done:
    return;
}
